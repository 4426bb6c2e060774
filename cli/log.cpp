#include "cli/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <memory>

#include "cli/terminal/terminal.h"
#include "cli/usage/wrong_usage.h"

namespace inkling::cli {
namespace {

// The message with the mark of its level; on a terminal, control characters are escaped.
class Message : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
        const std::string_view text(message.payload.data(), message.payload.size());
        const char* const mark = message.level == spdlog::level::err    ? "inkling: "
                                 : message.level == spdlog::level::warn ? "warning: "
                                                                        : "";
        fmt::format_to(std::back_inserter(line), "{}{}", mark, terminal_ ? harmless(text) : text);
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Message>(*this); }

  private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
};

void set_level(const std::string& name) {
    const spdlog::level::level_enum level = spdlog::level::from_str(name);
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<Message>('*').set_pattern(level == spdlog::level::debug ? "%H:%M:%S.%e %*" : "%*");
    spdlog::set_formatter(std::move(formatter));
    spdlog::set_level(level);
}

}  // namespace

void set_up_log() {
    if (spdlog::get("inkling")) return;
    spdlog::set_default_logger(spdlog::stderr_logger_mt("inkling"));
    set_level("info");
}

void add_log_level_flag(CLI::App& app) {
    app.add_option_function<std::string>(
           "--log-level", set_level,
           "messages to show on stderr, from this level on: debug, info, warning, error or off")
        ->default_str("info")
        ->check(refuse_other_than({"debug", "info", "warning", "error", "off"}));
}

}  // namespace inkling::cli

#include "cli/terminal/chat_commands.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/arguments/output_file.h"
#include "cli/arguments/sampling_flags.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/wrong_usage.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/named.h"

namespace inkling::cli {
namespace {

using generate::Conversation;

constexpr const char* kChatHelp =
    "text              send a message; end a line with \\ to continue it, begin with // for a /\n"
    "/reset            start another conversation with the same system prompt\n"
    "/system TEXT      set the system prompt; alone: show it; \"\": remove it\n"
    "/set NAME VALUE   change a sampling flag, such as temperature; alone: show them\n"
    "/save FILE        write the conversation as one line for train --data\n"
    "/load FILE        continue a saved conversation\n"
    "/quit, Ctrl-D     end\n"
    "Ctrl-C            stop the answer, or drop the line\n";

// The sampling flags of --help, which /set changes and shows.
struct SamplingFlags {
    generate::GenerateOptions options;
    CLI::App app;
    explicit SamplingFlags(const Conversation& talk) : options(talk.options()) {
        app.option_defaults()->always_capture_default();
        add_sampling_flags(app, options);
        app.get_option("--seed")->capture_default_str();
        read_whole_numbers(app);
    }
};

void change(const std::string& name, const std::string& value, Conversation& talk) {
    SamplingFlags settings(talk);
    if (name.empty()) {
        for (const CLI::Option* const option : settings.app.get_options()) {
            const bool left =
                option->check_lname("max-tokens") && settings.options.max_tokens == Conversation::what_is_left;
            if (option == settings.app.get_help_ptr() || option->check_lname("stop")) continue;
            spdlog::info("{} {}", option->get_lnames().front(),
                         left ? "the rest of the context" : option->get_default_str());
        }
        return;
    }
    check<BadInput>(!value.empty(), "/set {}: a value is required", name);
    try {
        settings.app.parse({value, "--" + name});  // in reverse order, as CLI11 expects
        talk.set_options(settings.options);
    } catch (const CLI::ParseError& e) {
        const bool known = settings.app.get_option_no_throw("--" + name) != nullptr;
        throw BadInput(known ? fmt::format("/set {}: '{}' is not a valid value", name, value)
                             : fmt::format("/set {}: there is no such setting: /set alone lists them", name));
    } catch (const Error& e) {
        throw BadInput(fmt::format("/set {}: {}", name, e.what()));
    }
}

// Whether /save may replace a file: it is a single line of messages, as /save writes. A training text has more lines.
bool is_conversation(const std::string& file) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(file, none)) return true;
    std::ifstream in(file, std::ios::binary);
    std::string line;
    return begins_with(file, "{\"messages\":") && (!std::getline(in, line) || in.peek() == EOF);
}

void save_to(std::string file, const Conversation& talk) {
    constexpr std::string_view kOverwrite = "--overwrite ";
    const bool overwrite = file.starts_with(kOverwrite);
    if (overwrite) file.erase(0, file.find_first_not_of(' ', kOverwrite.size()));
    check<BadInput>(!file.empty(), "/save: a file is required");
    check<BadInput>(overwrite || is_conversation(file),
                    "/save {0}: this file exists and is not a conversation: choose another name, or replace it "
                    "with /save --overwrite {0}",
                    file);
    try {
        formats::write_file_atomic(file, data::to_line(talk.messages()));
    } catch (const Error& e) {
        throw BadInput(e.what());  // the conversation continues
    }
    spdlog::info("({} written to {})", counted(talk.messages().size(), "message"), file);
}

void load_from(const std::string& file, Conversation& talk) {
    check<BadInput>(!file.empty(), "/load: a file is required");
    const data::ExampleLines d =
        formats::named(file, [&] { return data::read_examples(formats::read_file(file, formats::FileKind::json)); });
    check<BadInput>(d.list.size() == 1 && d.list[0].shape == data::ExampleShape::messages,
                    "{}: one line with \"messages\" is required", file);
    talk.set_messages(d.list[0].parts);
    spdlog::info("({})", counted(talk.messages().size(), "message"));
}

std::string system_of(const Conversation& talk) {
    const auto& all = talk.messages();
    return !all.empty() && all[0].role == "system" ? all[0].content : "";
}

}  // namespace

bool run_chat_command(const std::string& line, Conversation& talk) {
    if (!line.starts_with('/') || line.starts_with("//")) return false;
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, end);
    std::string rest = line.substr(end);
    rest.erase(0, rest.find_first_not_of(' '));
    if (name == "/help") {
        std::fputs(kChatHelp, stderr);
    } else if (name == "/reset") {
        const std::string system = system_of(talk);
        talk.set_messages({});
        talk.set_system(system);
        spdlog::info("(another conversation{})", system.empty() ? "" : "; the system text stays");
    } else if (name == "/system") {
        if (!rest.empty()) return talk.set_system(rest == "\"\"" ? "" : rest), true;
        const std::string system = system_of(talk);
        spdlog::info("({})", system.empty() ? "there is no system message" : system);
    } else if (name == "/set") {
        const std::size_t space = std::min(rest.find(' '), rest.size());
        change(rest.substr(0, space), space < rest.size() ? rest.substr(space + 1) : "", talk);
    } else if (name == "/save") {
        save_to(rest, talk);
    } else if (name == "/load") {
        load_from(rest, talk);
    } else {
        throw BadInput(fmt::format("{}: there is no such command: /help lists them, // begins a message with /",
                                   shown_name(name)));
    }
    return true;
}

}  // namespace inkling::cli

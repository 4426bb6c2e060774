// inkling chat: a conversation in a terminal, or with a program (--json)
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/prompt.h"
#include "cli/arguments/sampling_flags.h"
#include "cli/log.h"
#include "cli/signals.h"
#include "cli/terminal/chat_commands.h"
#include "cli/terminal/line_reader.h"
#include "cli/terminal/terminal.h"
#include "engine/base/names.h"
#include "formats/json.h"
#include "formats/json_object.h"
#include "formats/utf8.h"

namespace inkling::cli {
namespace {

using generate::Conversation;
using nlohmann::ordered_json;

constexpr const char* kChatPrompt = "> ";

struct ChatArguments {
    ModelArgument model;
    std::string system;
    generate::GenerateOptions options;
    WeightFlags weights;
    std::size_t threads = 0;
    bool json = false, strict = false;
};

// Passes the answer on as it is generated; Ctrl-C ends it.
void write_answer(Conversation& talk, const std::function<void(const std::string& piece)>& take) {
    const std::atomic<int>& signal = catch_signals();
    while (!talk.finished()) {
        if (signal != 0) {
            talk.stop();
            break;
        }
        std::string piece;
        until_signal([&] { piece = talk.next(); });
        take(piece);
    }
}

// Prints the answer as it is generated; on a terminal, wraps it at words.
void show_answer(Conversation& talk) {
    if (!isatty(STDOUT_FILENO)) {
        write_answer(talk, [](const std::string& piece) { print(piece); });
    } else {
        WordWrap wrap;
        write_answer(talk, [&](const std::string& piece) { print(wrap.add(piece, terminal_columns(STDOUT_FILENO))); });
        print(wrap.rest(terminal_columns(STDOUT_FILENO)));
    }
    print("\n");
}

// Reports how the context or a limit affected the last answer.
void say_limits(const Conversation& talk, std::size_t& forgotten) {
    const generate::FinishReason why = talk.text().finish_reason();
    if (talk.full())
        spdlog::info("(the context is full: the answer ends here)");
    else if (why == generate::FinishReason::length)
        spdlog::info("(the answer is cut after {}: /set max-tokens allows more)",
                     counted(talk.text().generated().size(), "token"));
    else if (why == generate::FinishReason::interrupted)
        spdlog::info("(the answer is cut: Ctrl-C)");
    if (talk.forgotten() > forgotten)
        spdlog::info("(the context is full: the model no longer sees the first {})",
                     counted(talk.forgotten(), "message"));
    forgotten = talk.forgotten();
}

int talk_by_lines(Conversation& talk, data::Tokenizer& tokenizer) {
    const std::atomic<int>& signal = catch_signals();
    const bool terminal = isatty(STDIN_FILENO);
    if (terminal) spdlog::info("type a message, or /help for commands");
    std::size_t forgotten = 0;
    std::string message;
    while (true) {
        const std::optional<std::string> line = next_line(message.empty() ? kChatPrompt : ". ");
        if (!line && terminal) std::fputc('\n', stderr);
        if (!line && terminal && signal == SIGINT) {  // drop this line; Ctrl-D ends
            forget_signal();
            message.clear();
            continue;
        }
        if (!line) break;
        if (terminal && signal == SIGINT) forget_signal();  // from before this line
        if (line->ends_with('\\')) {
            message += line->substr(0, line->size() - 1) + "\n";
            continue;
        }
        message += *line;
        const std::string said = std::exchange(message, "");
        try {
            check<BadInput>(formats::find_invalid_utf8(said) == std::string::npos, "this line is not UTF-8");
            if (said == "/quit") break;
            if (said.empty() || run_chat_command(said, talk)) {
                if (talk.forgotten() == 0) forgotten = 0;
                continue;
            }
            talk.ask(said.starts_with("//") ? said.substr(1) : said);
            show_answer(talk);
            say_replaced(tokenizer);
            say_limits(talk, forgotten);
        } catch (const BadInput& e) {  // continue with the next line
            spdlog::error("{}", e.what());
        }
        if (terminal && signal == SIGINT) forget_signal();
        if (signal != 0) break;
    }
    if (terminal && signal == SIGINT) forget_signal();  // it ended a line or an answer, not the program
    return 0;
}

// {"content": "..."} adds a message; {"messages": [...]} replaces the conversation. Both get an answer.
void take_json(const std::string& line, Conversation& talk, const std::string& system) {
    const nlohmann::json j = formats::parse_json(line, "the line", 32);
    check<BadInput>(j.is_object() && j.contains("content") + j.contains("messages") == 1,
                    "an object with \"content\", a text, or with \"messages\", a list, is required");
    for (const auto& [key, value] : j.items())
        check<BadInput>(key == "content" || key == "messages" || (key == "role" && value == "user"),
                        "the key \"{}\" is not supported", shown_name(key));
    if (j.contains("content")) return talk.ask(formats::JsonObject(j, "").text("content").value_or(""));
    std::vector<data::ChatMessage> messages = data::parse_messages(j["messages"]);
    check<BadInput>(messages.back().role != "assistant", "the last message is already an answer");
    if (!system.empty() && messages[0].role != "system") messages.insert(messages.begin(), {"system", system});
    const std::vector<data::ChatMessage> before = talk.messages();
    talk.set_messages(std::move(messages));
    try {
        talk.answer();
    } catch (const BadInput&) {
        talk.set_messages(before);
        throw;
    }
}

int talk_by_json(Conversation& talk, data::Tokenizer& tokenizer, const ChatArguments& args) {
    const std::atomic<int>& signal = catch_signals();
    while (const std::optional<std::string> line = next_line("")) {
        if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
        ordered_json answer;
        try {
            take_json(*line, talk, args.system);
            write_answer(talk, [](const std::string&) {});
            const generate::Sequence& text = talk.text();
            const std::size_t n = text.generated().size();
            answer = {{"role", "assistant"},
                      {"content", talk.messages().back().content},
                      {"tokens", n},
                      {"prompt_tokens", text.tokens().size() - n},
                      {"forgotten", talk.forgotten()},
                      {"tok_s", n > 1 && text.seconds() > 0 ? static_cast<double>(n - 1) / text.seconds() : 0.0},
                      {"seed", talk.options().seed},
                      {"stop_reason", name(text.finish_reason())}};
            say_replaced(tokenizer);
        } catch (const BadInput& e) {
            answer = {{"error", e.what()}};
        }
        print(formats::json_text(answer) + "\n");
        if (signal != 0) break;
    }
    return 0;
}

int chat(ChatArguments& args) {
    train::about_settings([&] { args.options.validate(); });
    check_utf8({args.system, "--system"});
    set_threads(args.threads);
    auto [model, tokenizer] = load_for_inference(args.model, args.weights);
    tokenizer->take_unknown(args.strict);
    data::ChatTemplate form = data::ChatTemplate::of(*tokenizer);
    const std::shared_ptr<data::Tokenizer> shared = std::move(tokenizer);
    Conversation talk(model, shared, std::move(form), args.options);
    talk.set_system(args.system);
    if (args.json) return talk_by_json(talk, *shared, args);
    spdlog::info("seed {}", args.options.seed);
    return talk_by_lines(talk, *shared);
}

}  // namespace

Action add_chat(CLI::App& app) {
    auto args = std::make_shared<ChatArguments>();
    add_model_flags(app, args->model);
    app.add_option("--system", args->system, "system message");
    args->options.max_tokens = Conversation::what_is_left;
    args->options.seed = std::random_device()();
    add_sampling_flags(app, args->options);
    app.get_option("--max-tokens")->default_str("the rest of the context");
    add_weight_flags(app, args->weights);
    add_cache_flag(app, args->weights);
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    app.add_flag("--strict-vocabulary", args->strict, kStrictHelp);
    app.add_flag(
        "--json", args->json,
        "read one JSON object per line, {\"content\": TEXT} (the next message) or {\"messages\": [...]} (a new "
        "conversation), and print each answer as an object");
    return [args] { return chat(*args); };
}

}  // namespace inkling::cli

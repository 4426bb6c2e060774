#include "models/chat_template.h"

#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "formats/file.h"
#include "formats/json.h"

namespace inkling::models {
namespace {

constexpr char kStart[] = "<|im_start|>", kEnd[] = "<|im_end|>";

// Jinja's text in one of its many spellings: white space between tokens, kinds of quotes, + and ~, the signs that trim
// blanks, message.role and message['role'] are all the same.
std::string normalized(const std::string& jinja) {
    std::string text;
    char quote = 0;
    for (std::size_t i = 0; i < jinja.size(); ++i) {
        const char c = jinja[i];
        if (quote) {
            if (c == '\\' && i + 1 < jinja.size()) {
                text += jinja[++i] == 'n' ? '\n' : jinja[i];
            } else if (c == quote) {
                quote = 0;
                text += '"';
            } else {
                text += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            text += '"';
        } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            text += c == '~' ? '+' : c;
        }
    }
    const auto replace = [&](const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    };
    for (const char* sign : {"{%-", "{%+"}) replace(sign, "{%");
    replace("-%}", "%}");
    replace("{{-", "{{");
    replace("-}}", "}}");
    replace("message.role", "message[\"role\"]");
    replace("message.content", "message[\"content\"]");
    replace("messages[0].role", "messages[0][\"role\"]");
    replace("}}{{", "+");
    replace("\"+\"", "");
    return text;
}

const std::string kMessages = "{%formessageinmessages%}";
const std::string kEach =
    "{{\"<|im_start|>\"+message[\"role\"]+\"\n\"+message[\"content\"]+\"<|im_end|>\n\"}}{%endfor%}";
const std::string kPrompt = "{%ifadd_generation_prompt%}{{\"<|im_start|>assistant\n\"}}{%endif%}";
const std::string kFirst = "{%ifloop.firstandmessages[0][\"role\"]!=\"system\"%}{{\"<|im_start|>system\n";
const std::string kFirstEnd = "<|im_end|>\n\"}}{%endif%}";
const std::string kNoPrompt = "{%ifnotadd_generation_promptisdefined%}{%setadd_generation_prompt=false%}{%endif%}";

// The system message that conversations without one get; none: not a ChatML template.
std::optional<std::string> read_chatml(std::string text) {
    const auto drop = [&](const std::string& part) {
        const bool there = text.starts_with(part);
        if (there) text.erase(0, part.size());
        return there;
    };
    drop(kNoPrompt);
    if (!drop(kMessages)) return std::nullopt;
    std::string system;
    if (drop(kFirst)) {
        const std::size_t end = text.find(kFirstEnd);
        if (end == std::string::npos || text.substr(0, end).find('"') != std::string::npos) return std::nullopt;
        system = text.substr(0, end);
        text.erase(0, end + kFirstEnd.size());
    }
    if (text != kEach + kPrompt) return std::nullopt;
    return system;
}

std::int32_t mark(const data::Tokenizer& tokenizer, const std::string& name) {
    std::vector<std::int32_t> ids;
    if (tokenizer.knows(name)) ids = tokenizer.encode(name);
    check<BadInput>(ids.size() == 1, "the chat template needs the token {}, which the tokenizer does not have", name);
    return ids[0];
}

std::string first_line(const std::string& text) {
    constexpr std::size_t kMax = 80;
    const std::string line = text.substr(0, std::min(text.find('\n'), text.size()));
    return line.size() > kMax ? line.substr(0, kMax) + "..." : line;
}

}  // namespace

ChatTemplate::ChatTemplate(const std::string& jinja, const data::Tokenizer& tokenizer) {
    const std::optional<std::string> system = read_chatml(normalized(jinja));
    check<BadInput>(system.has_value(), "the chat template is not ChatML, the only one that is known: it begins: {}",
                    first_line(jinja));
    default_system_ = *system;
    start_ = mark(tokenizer, kStart);
    end_ = mark(tokenizer, kEnd);
}

ChatTemplate ChatTemplate::load(const std::filesystem::path& folder, const data::Tokenizer& tokenizer) {
    constexpr int kDepth = 128;
    if (const auto path = folder / "chat_template.jinja"; formats::is_there(path))
        return ChatTemplate(formats::read_file(path, formats::FileKind::json), tokenizer);
    const auto path = folder / "tokenizer_config.json";
    nlohmann::json config;
    if (formats::is_there(path))
        config = formats::parse_json(formats::read_file(path, formats::FileKind::json), path.string(), kDepth);
    nlohmann::json text = config.is_object() ? config.value("chat_template", nlohmann::json()) : nlohmann::json();
    if (text.is_array()) {  // several, by name
        for (const nlohmann::json& one : nlohmann::json(text)) {
            if (one.is_object() && one.value("name", nlohmann::json()) == "default") text = one.value("template", text);
        }
    }
    check<BadInput>(text.is_string(), "the model has no chat template: use completions");
    return ChatTemplate(text.get<std::string>(), tokenizer);
}

std::vector<std::int32_t> ChatTemplate::encode(std::span<const ChatMessage> messages,
                                               const data::Tokenizer& tokenizer) const {
    std::vector<std::int32_t> ids;
    const auto add = [&](const std::string& text) {
        tokenizer.encode_plain_parts(text, [&](std::span<const std::int32_t> some, std::size_t) {
            ids.insert(ids.end(), some.begin(), some.end());
        });
    };
    const auto add_message = [&](const std::string& role, const std::string& content) {
        ids.push_back(start_);
        add(role + "\n" + content);
        ids.push_back(end_);
        add("\n");
    };
    if (!default_system_.empty() && (messages.empty() || messages[0].role != "system"))
        add_message("system", default_system_);
    for (const ChatMessage& message : messages) add_message(message.role, message.content);
    ids.push_back(start_);
    add("assistant\n");
    return ids;
}

}  // namespace inkling::models

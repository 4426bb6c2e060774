#include "data/documents.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "formats/json.h"

namespace inkling::data {

using nlohmann::json;

namespace {

constexpr int kDepth = 32;  // of JSON

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

// take(line, number), until it returns false.
template <class Take>
void each_line(std::string_view lines, const Take& take) {
    for (std::size_t at = 0, number = 1; at < lines.size(); ++number) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        const std::string_view line = lines.substr(at, end - at);
        if (!is_blank(line) && !take(line, number)) return;
        at = end + 1;
    }
}

const std::string& text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    check<BadInput>(found != object.end() && found->is_string(), "\"{}\" must be a text", key);
    return found->get_ref<const std::string&>();
}

}  // namespace

std::vector<ChatMessage> parse_messages(const json& list) {
    check<BadInput>(list.is_array() && !list.empty(), "\"messages\" must be a list of messages");
    std::vector<ChatMessage> messages;
    for (const json& one : list) {
        const auto what = [&] { return fmt::format("message {}", messages.size() + 1); };
        check<BadInput>(one.is_object(), "{} must be an object with \"role\" and \"content\"", what());
        try {
            messages.push_back({text_at(one, "role"), text_at(one, "content")});
        } catch (const BadInput& e) {
            throw BadInput(fmt::format("{}: {}", what(), e.what()));
        }
        const std::string& role = messages.back().role;
        check<BadInput>(role == "system" || role == "user" || role == "assistant",
                        "message {}: the role must be system, user or assistant, got {}", messages.size(),
                        json(role).dump(-1, ' ', true).substr(0, 40));
    }
    return messages;
}

std::string to_line(const std::vector<ChatMessage>& messages) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ChatMessage& m : messages) list.push_back({{"role", m.role}, {"content", m.content}});
    return nlohmann::ordered_json{{"messages", list}}.dump() + "\n";
}

Document parse_document(std::string_view line) {
    const json j = formats::parse_json(line, "it", kDepth);
    check<BadInput>(j.is_object(),
                    "an object is required: {{\"messages\": [...]}}, {{\"prompt\": ..., \"completion\": "
                    "...}} or {{\"text\": ...}}");
    const bool chat = j.contains("messages"), completion = j.contains("completion"), text = j.contains("text");
    check<BadInput>(chat + completion + text == 1,
                    "{} of \"messages\", \"completion\" (with \"prompt\") and \"text\" are there: one is required",
                    chat + completion + text);
    if (chat) return {DocumentShape::messages, parse_messages(j["messages"])};
    if (text) return {DocumentShape::text, {{"text", text_at(j, "text")}}};
    return {DocumentShape::completion, {{"prompt", text_at(j, "prompt")}, {"completion", text_at(j, "completion")}}};
}

DocumentLines read_documents(std::string_view lines, bool skip_bad_lines) {
    DocumentLines all;
    each_line(lines, [&](std::string_view line, std::size_t number) {
        try {
            Document d = parse_document(line);
            d.line = number;
            if (!all.list.empty() && all.list[0].shape != d.shape) {
                throw BadInput(fmt::format("it holds {}, and line {} {}: one file holds one shape", name_of(d.shape),
                                           all.list[0].line, name_of(all.list[0].shape)));
            }
            all.list.push_back(std::move(d));
        } catch (const BadInput& e) {
            const std::string what = fmt::format("line {}: {}", number, e.what());
            if (!skip_bad_lines) throw BadInput(what);
            if (all.bad_lines++ == 0) all.first_bad_line = what;
        }
        return true;
    });
    return all;
}

bool holds_documents(std::string_view lines) {
    constexpr std::size_t kLines = 100;
    bool found = false;
    std::size_t n = 0;
    each_line(lines, [&](std::string_view line, std::size_t) {
        if (line.find_first_not_of(" \t\r\xEF\xBB\xBF") != line.find('{')) return ++n < kLines;
        try {
            parse_document(line);
            found = true;
        } catch (const BadInput&) {
        }
        return !found && ++n < kLines;
    });
    return found;
}

}  // namespace inkling::data

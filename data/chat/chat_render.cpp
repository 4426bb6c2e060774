#include "data/chat/chat_render.h"

#include <algorithm>

#include "engine/base/check.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

// Roles that templates may spell as a part of a mark, as in '<|' + role + '|>'. Others are what people write.
bool is_role(const std::string& role) {
    static constexpr std::string_view kRoles[] = {"system", "user", "assistant", "tool", "developer", "function"};
    return std::count(std::begin(kRoles), std::end(kRoles), role) > 0;
}

jinja::Value value_of_message(jinja::Run& run, const ChatMessage& message, std::size_t i) {
    const std::int32_t content = source_of(i, ChatPart::content), other = source_of(i, ChatPart::other);
    const std::string& role = message.role;
    std::vector<std::pair<jinja::Value, jinja::Value>> items{
        {run.text(jinja::Text("role")), run.text(is_role(role) ? jinja::Text(role) : jinja::Text(role, other))},
        {run.text(jinja::Text("content")), run.text(jinja::Text(message.content, content))}};
    if (message.more.is_null()) return run.map(std::move(items));
    const jinja::Value more = from_json(run, message.more, [&](std::string_view key) {
        return key == "content" ? content : key == "tool_calls" ? source_of(i, ChatPart::tool_calls) : other;
    });
    check(more.map(), "extra message fields must be a JSON object");
    for (const auto& [key, value] : more.map()->items) {
        if (key.text()->bytes == "content")
            items[1].second = value;
        else if (key.text()->bytes != "role")
            items.emplace_back(key, value);
    }
    return run.map(std::move(items));
}

// About the bytes of its text.
std::size_t size_of(const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size();
}

jinja::Text render_once(const jinja::Template& jinja, const std::map<std::string, std::string>& special_tokens,
                        std::span<const ChatMessage> messages, const ChatContext& context) {
    jinja::Limits limits{.stop = context.stop};
    std::size_t size = size_of(context.variables);
    for (const ChatMessage& m : messages) size += 64 + m.role.size() + m.content.size() + size_of(m.more);
    limits.steps += 8 * size;  // templates take some 200 steps for a message
    limits.bytes += 64 * size;
    jinja::Run run(limits);
    for (const auto& [name, text] : special_tokens) run.set(name, run.text(jinja::Text(text)));
    for (const char* const name : {"tools", "documents"}) run.set(name, jinja::None());
    run.set("add_generation_prompt", context.for_answer);
    const std::int32_t outside = source_of(messages.size(), ChatPart::other);
    if (!context.variables.is_null())
        run.set_all(from_json(run, context.variables, [&](std::string_view) { return outside; }));
    std::vector<jinja::Value> list;
    for (std::size_t i = 0; i < messages.size(); ++i) list.push_back(value_of_message(run, messages[i], i));
    run.set("messages", run.list(std::move(list)));
    return jinja.render(run);
}

bool has_tool_calls(const ChatMessage& message) {
    const auto calls = message.more.find("tool_calls");
    return calls != message.more.end() && !calls->empty();
}

bool is_blank(const ChatMessage& message) {
    const std::string& text = message.content;
    const auto [begin, end] = formats::stripped(text, jinja::is_python_space);
    return begin == end;
}

}  // namespace

jinja::Text render(const jinja::Template& jinja, const std::map<std::string, std::string>& special_tokens,
                   std::span<const ChatMessage> messages, const ChatContext& context) {
    jinja::Text text = render_once(jinja, special_tokens, messages, context);
    std::vector<bool> shown(messages.size() * static_cast<std::size_t>(ChatPart::count));
    for (const jinja::Span& s : text.spans)
        if (s.source >= 0 && s.begin < s.end && static_cast<std::size_t>(s.source) < shown.size())
            shown[static_cast<std::size_t>(s.source)] = true;
    const auto is_shown = [&](std::size_t i, ChatPart part) {
        return shown[static_cast<std::size_t>(source_of(i, part))];
    };
    // A message of which nothing is shown may have an effect, as thoughts that the template cuts out, or "/no_think"
    // for the system. It has none where the text is the same without it; the first of each role is tried.
    std::vector<std::string> tried;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const bool calls = has_tool_calls(messages[i]) && !is_shown(i, ChatPart::tool_calls);
        const bool content = !is_blank(messages[i]) && !is_shown(i, ChatPart::content);
        if (!(calls || content) || std::count(tried.begin(), tried.end(), messages[i].role)) continue;
        tried.push_back(messages[i].role);
        std::vector<ChatMessage> others(messages.begin(), messages.end());
        const auto place = others.begin() + static_cast<std::ptrdiff_t>(i);
        calls ? void(place->more.erase("tool_calls")) : void(others.erase(place));
        bool same = true;
        try {
            same = render_once(jinja, special_tokens, others, context).bytes == text.bytes;
        } catch (const BadInput&) {
        }
        check<BadInput>(!same, "it leaves out {}message {}, of the {}", calls ? "the tool calls of " : "", i + 1,
                        messages[i].role);
    }
    return text;
}

}  // namespace inkling::data

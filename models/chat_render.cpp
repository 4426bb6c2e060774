#include "models/chat_render.h"

#include <algorithm>

#include "engine/check.h"

namespace inkling::models {

using data::ChatMessage;
using nlohmann::json;

namespace {

constexpr std::string_view kSign = "\xEF\xA3\xBF";  // U+F8FF, which is nobody's

std::string placeholder(std::size_t message) { return fmt::format("{0}{1}{0}", kSign, message); }

// `blank`: messages of white space alone have placeholders, too.
Rendered render_once(const formats::Jinja& jinja, json& variables, std::span<const ChatMessage> messages, Space space,
                     bool blank) {
    std::vector<bool> placed;
    json& list = variables["messages"] = json::array();
    for (const ChatMessage& message : messages) {
        const Content content(message.content);
        placed.push_back(blank || !content.core.empty());
        std::string text = placed.back() ? placeholder(list.size()) : "";
        if (space != Space::none) text.insert(0, content.before);
        if (space == Space::kept) text += content.after;
        list.push_back({{"role", message.role}, {"content", text}});
    }
    const std::string all = jinja.render(variables);
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (!placed[i]) continue;
        const std::string name = placeholder(i);
        const std::size_t at = all.find(name);
        check<BadInput>(at != std::string::npos, "it leaves out message {}, of the {}", i + 1, messages[i].role);
        check<BadInput>(all.find(name, at + 1) == std::string::npos, "it repeats message {}, of the {}", i + 1,
                        messages[i].role);
        places.emplace_back(at, i);
    }
    std::sort(places.begin(), places.end());
    Rendered r;
    std::size_t done = 0;
    for (const auto& [at, i] : places) {
        r.texts.push_back(all.substr(done, at - done));
        r.messages.push_back(i);
        done = at + placeholder(i).size();
    }
    r.texts.push_back(all.substr(done));
    return r;
}

}  // namespace

Rendered render(const formats::Jinja& jinja, json variables, std::span<const ChatMessage> messages, bool for_answer,
                Space space) {
    variables["add_generation_prompt"] = for_answer;
    Rendered r = render_once(jinja, variables, messages, space, true);
    const auto is_blank = [&](std::size_t i) { return Content(messages[i].content).core.empty(); };
    if (std::none_of(r.messages.begin(), r.messages.end(), is_blank)) return r;
    // What a template strips goes on beyond a message of white space: the text is that without its placeholder, and the
    // message is where the two begin to differ.
    const Rendered exact = render_once(jinja, variables, messages, space, false);
    std::size_t next = 0;
    std::string rest = exact.texts[0];
    for (std::size_t k = 0; k < r.texts.size(); ++k) {
        std::string& text = r.texts[k];
        if (k + 1 < r.texts.size() && is_blank(r.messages[k])) {
            const auto differ = std::mismatch(rest.begin(), rest.end(), text.begin(), text.end());
            text.assign(rest.begin(), differ.first);
            rest.erase(rest.begin(), differ.first);
        } else {
            text = rest;
            if (++next < exact.texts.size()) rest = exact.texts[next];
        }
    }
    return r;
}

}  // namespace inkling::models

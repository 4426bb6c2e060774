// A chat template rendered with placeholders for what is said: models/chat_template.h has what for.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/documents.h"
#include "formats/jinja.h"

namespace inkling::models {

// A content: white space, `core`, white space.
struct Content {
    std::string_view before, core, after;
    explicit Content(std::string_view text) {
        core = formats::python_strip(text);
        const auto begin = static_cast<std::size_t>(core.data() - text.data());
        before = text.substr(0, core.empty() ? text.size() : begin);
        if (!core.empty()) after = text.substr(begin + core.size());
    }
};

// What a template makes of a conversation: text[0], core of message[0], text[1], ...; one text more than messages.
struct Rendered {
    std::vector<std::string> texts;
    std::vector<std::size_t> messages;
};

enum class Space { kept, before, none };  // of contents

// Throws BadInput where the template leaves out or repeats a message, or refuses the conversation.
Rendered render(const formats::Jinja& jinja, nlohmann::json variables, std::span<const data::ChatMessage> messages,
                bool for_answer, Space space = Space::kept);

}  // namespace inkling::models

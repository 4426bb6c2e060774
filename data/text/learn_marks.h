// Keys by which data says what is not to be learned, as other trainers read them: beside a message, a part of its
// content, or the texts of a line. Marks of whole answers are read; other marks are refused by name, unless they have
// no effect.
//   message.learned = learn_mark(message).value_or(true);
//   refuse_marks(line);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace inkling::data {

// Whether a message is marked as learned; nullopt without a mark. Throws BadInput for a mark that is not read.
std::optional<bool> learn_mark(const nlohmann::json& message);

// Throws BadInput for a mark with an effect. `preferences`: also where the answer is marked as a bad example, by a key
// that is the class of a text elsewhere.
void refuse_marks(const nlohmann::json& object, bool preferences = true);

// The value of a key, null where it is absent or null.
const nlohmann::json* find_value(const nlohmann::json& object, const char* key);
bool is_empty(const nlohmann::json& value);  // false, "", [] or {}
[[noreturn]] void refuse_key(const char* key, const nlohmann::json& value);

}  // namespace inkling::data

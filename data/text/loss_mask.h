// Keys of other trainers that exclude text from learning: beside a message, a part of its
// content, or the texts of a line. Masks of whole answers are read; other masks are refused by name, unless they have
// no effect.
//   message.learned = loss_mask(message).value_or(true);
//   refuse_loss_masks(line);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace inkling::data {

// Whether a message is learned; nullopt if no key says it. Throws BadInput for a mask that is not supported.
std::optional<bool> loss_mask(const nlohmann::json& message);

// Throws BadInput for a mask with an effect. `preferences`: also for a key that marks the answer as a bad example, and
// that elsewhere is just the class of a text.
void refuse_loss_masks(const nlohmann::json& object, bool preferences = true);

bool is_empty(const nlohmann::json& value);  // false, "", [] or {}
[[noreturn]] void refuse_key(const char* key, const nlohmann::json& value);

}  // namespace inkling::data

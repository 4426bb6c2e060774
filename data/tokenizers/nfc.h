// Unicode's normalization form C, by utf8proc: "e" and a combining acute accent become "é".
//   to_nfc("e\u0301");   // "é"
// As the `tokenizers` library does it, whose tables are of Unicode 9: marks that are newer stay where they are.
#pragma once

#include <string>
#include <string_view>

namespace inkling::data {

// Bytes that are not UTF-8 stay, and the text between two such bytes is normalized for itself.
std::string to_nfc(std::string_view text);

// The lower-case form of each character, as Rust's char::to_lowercase has it.
std::string to_lowercase(std::string_view text);

}  // namespace inkling::data

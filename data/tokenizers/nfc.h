// Unicode's normalization form C, by utf8proc: "e" and a combining acute accent become "é".
//   to_nfc("e\u0301");   // "é"
// As in the `tokenizers` library, whose tables are of Unicode 9: newer marks are left in place.
#pragma once

#include <string>
#include <string_view>

namespace inkling::data {

// Bytes that are not UTF-8 are kept; the text between two such bytes is normalized separately.
std::string to_nfc(std::string_view text);

// Lower-cases each character, as Rust's char::to_lowercase does.
std::string to_lowercase(std::string_view text);

}  // namespace inkling::data

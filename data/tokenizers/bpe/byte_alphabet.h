// GPT-2's bytes_to_unicode: byte-level tokenizers write each byte as a letter. Printable Latin-1 bytes are themselves;
// the 68 others are U+0100, U+0101, ... in order, so that vocabularies and merges hold no spaces or control characters.
//   to_byte_letters(" a\n");        // "ĠaĊ"
//   from_byte_letters("ĠaĊ");       // " a\n"
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace inkling::data {

// The code point of each byte's letter.
const std::array<char32_t, 256>& byte_letters();

// Any bytes as letters in UTF-8.
std::string to_byte_letters(std::string_view bytes);

// The bytes of a token; none if the text is not UTF-8 or has a character that stands for no byte.
std::optional<std::string> from_byte_letters(std::string_view letters);

// The token of a byte for tokenizers with byte fallback, <0x00> to <0xFF>, and the byte of one in digits of either
// case.
std::string fallback_token(char byte);
std::optional<char> fallback_byte(std::string_view token);

}  // namespace inkling::data

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Text is checked where it enters the program,
//   if (auto at = find_invalid_utf8(text); at != std::string_view::npos) ...   // at is a byte offset
// and is bytes in std::string from then on; code points are made only where characters are counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::formats {

inline constexpr char32_t invalid_code_point = 0xFFFFFFFF;

// The code point that begins at text[offset], and moves offset past it. At a byte that begins no valid code point:
// invalid_code_point, with offset left where it is. Needs offset < text.size().
char32_t next_code_point(std::string_view text, std::size_t& offset);

// Byte offset of the first byte that begins no valid code point; npos when the whole text is valid.
std::size_t find_invalid_utf8(std::string_view text);

// Bytes from an invalid one on that stand for one broken character: the longest beginning of a valid one, else 1.
// Unicode recommends one U+FFFD for each, and Python's errors="replace" does the same.
std::size_t invalid_utf8_size(std::string_view text, std::size_t at);

// Throws BadInput, naming the byte offset, when the text is not UTF-8.
std::vector<char32_t> to_code_points(std::string_view text);

// Any bytes as ASCII, as a URL has them: "caf%E9.txt". Letters, digits and "-._~/" stand for themselves; what follows a
// '%' in a text to be read must be two hexadecimal digits, or from_percent throws BadInput that begins with `what`.
std::string to_percent(std::string_view bytes);
std::string from_percent(std::string_view text, const std::string& what);

// Appends the UTF-8 form of a code point; throws Error for surrogates and for values above U+10FFFF.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace inkling::formats

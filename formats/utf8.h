// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Text is checked when it enters the program,
//   if (auto at = find_invalid_utf8(text); at != std::string_view::npos) ...   // at is a byte offset
// and stays bytes in a std::string; it is decoded only to count characters.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inkling::formats {

inline constexpr char32_t invalid_code_point = 0xFFFFFFFF;

// Returns the code point at text[offset] and moves offset past it. A byte that begins no valid code point gives
// invalid_code_point and is passed, too, so that every loop ends. Needs offset < text.size().
char32_t next_code_point(std::string_view text, std::size_t& offset);

// The code point before text[end], and moves end to its beginning; invalid_code_point for a byte that ends none. Needs
// end > 0.
char32_t previous_code_point(std::string_view text, std::size_t& end);

// next_code_point, but throws BadInput, with the byte's offset, for invalid_code_point.
char32_t valid_code_point(std::string_view text, std::size_t& offset);

// The offset of the first byte that begins no valid code point; npos if the text is valid.
std::size_t find_invalid_utf8(std::string_view text);

// The number of bytes of one broken character: its longest valid beginning, else 1. Unicode recommends one U+FFFD for
// each, like Python's errors="replace".
std::size_t invalid_utf8_size(std::string_view text, std::size_t at);

// Throws BadInput with the byte offset if the text is not UTF-8.
std::vector<char32_t> to_code_points(std::string_view text);

bool is_white_space(char32_t c);  // Unicode's White_Space

// The range of the text without leading and trailing characters for which strip(c) holds.
std::pair<std::size_t, std::size_t> stripped(std::string_view text, const std::function<bool(char32_t)>& strip,
                                             bool left = true, bool right = true);

// Percent-encodes any bytes as in a URL, "caf%E9.txt", except letters, digits and "-._~/". from_percent decodes; it
// throws BadInput, beginning with `what`, unless two hexadecimal digits follow each '%'.
std::string to_percent(std::string_view bytes);
std::string from_percent(std::string_view text, const std::string& what);

// Appends the UTF-8 form of a code point; throws Error for surrogates and for values above U+10FFFF.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace inkling::formats

// Unicode white space and word characters, and stepping through the characters of a text.
#pragma once

#include <string_view>

namespace inkling::data {

// For one character: White_Space; \w of UTS 18 (alphabetic, mark, decimal number, connector, joiner). A byte that is
// not UTF-8 is neither.
bool is_space(std::string_view character);
bool is_word(std::string_view character);

// The class that is_word matches, with brackets, for a pattern in tokenizer.json's dialect.
inline constexpr char word_class[] = R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9})"
                                     R"(\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])";

// The character at `at`, and the start of the character before `end`; an invalid byte counts as a character.
std::string_view first_character(std::string_view text, std::size_t at);
std::size_t previous_character(std::string_view text, std::size_t end);

}  // namespace inkling::data

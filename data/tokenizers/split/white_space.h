// White space and words, as Unicode defines them, and single characters of a text.
#pragma once

#include <string_view>

namespace inkling::data {

// Of one character: White_Space; \w of UTS 18: alphabetic, mark, decimal number, connector, joiner. A byte that is not
// UTF-8 is neither.
bool is_space(std::string_view character);
bool is_word(std::string_view character);

// What is_word matches, for a regular expression in the dialect of tokenizer.json: a class, with its brackets.
inline constexpr char word_class[] = R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9})"
                                     R"(\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])";

// The character that begins at `at`, and the beginning of that which ends before `end`; a byte that is not UTF-8 counts
// as one.
std::string_view first_character(std::string_view text, std::size_t at);
std::size_t previous_character(std::string_view text, std::size_t end);

}  // namespace inkling::data

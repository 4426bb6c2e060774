// The patterns in a tokenizer.json are written for Oniguruma. What it and PCRE2 understand alike is handed on:
//   pcre2_pattern(R"([^\r\n\p{L}\p{N}]?\p{L}+|\s+)");
// and the rest refused by name, because a pattern that means something else gives other ids without a word.
#pragma once

#include <string>
#include <string_view>

namespace inkling::data {

// Throws BadInput, one line, for syntax on which the two differ or that is not needed by any known tokenizer.
std::string pcre2_pattern(std::string_view pattern);

}  // namespace inkling::data

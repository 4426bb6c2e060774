// The patterns in a tokenizer.json are written for Oniguruma. Syntax that PCRE2 understands alike is passed on:
//   pcre2_pattern(R"([^\r\n\p{L}\p{N}]?\p{L}+|\s+)");
// and all other syntax is refused by name, because a pattern with another meaning would silently give other ids.
#pragma once

#include <string>
#include <string_view>

namespace inkling::data {

// Throws BadInput, one line, for syntax on which the two differ or that is not needed by any known tokenizer.
std::string pcre2_pattern(std::string_view pattern);

}  // namespace inkling::data

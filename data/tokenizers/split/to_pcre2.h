// Patterns in a tokenizer.json are written for Oniguruma. Syntax with the same meaning in PCRE2 passes through:
//   pcre2_pattern(R"([^\r\n\p{L}\p{N}]?\p{L}+|\s+)");
// Other syntax is an error that names it, since a different meaning would silently give different ids.
#pragma once

#include <string>
#include <string_view>

namespace inkling::data {

// Throws BadInput (one line) for syntax on which the two differ or that no known tokenizer needs.
std::string pcre2_pattern(std::string_view pattern);

}  // namespace inkling::data

// Refuses deeply nested TOML, which would overflow the stack of the recursive parser:
//   check_toml_nesting(text, "config.toml");   // before it is parsed
#pragma once

#include <string>
#include <string_view>

namespace inkling::formats {

// Throws BadInput, "what: line N: ...", for more than 32 open brackets, or a name of more than 32 parts (a.b.c has 3).
// The parser reports all other errors.
void check_toml_nesting(std::string_view text, const std::string& what);

}  // namespace inkling::formats

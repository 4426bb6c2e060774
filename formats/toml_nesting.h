// Deeply nested TOML would overflow the stack of the parser, which is recursive:
//   check_toml_nesting(text, "config.toml");   // before it is parsed
#pragma once

#include <string>
#include <string_view>

namespace inkling::formats {

// Throws BadInput, "what: line N: ...", where more than 32 brackets are open at once, or a name has more than 32 parts:
// a.b.c has 3. All other errors are left to the parser.
void check_toml_nesting(std::string_view text, const std::string& what);

}  // namespace inkling::formats

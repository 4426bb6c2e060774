// A template cut into texts, {{ outputs }} and {% statements %}, and these into names, signs, numbers and texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inkling::formats::jinja {

struct Token {
    enum class Kind { name, text, number, sign, end } kind;
    std::string value;
};

struct Part {
    enum class Kind { text, output, statement } kind;
    std::string text;
    std::vector<Token> tokens;  // of an output or a statement; the last has the kind `end`
};
std::vector<Part> cut(std::string_view source);

}  // namespace inkling::formats::jinja

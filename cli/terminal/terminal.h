// Properties of a terminal, and the room that text takes on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inkling::cli {

// Escapes control characters, except line ends and tabs, and bytes that are not UTF-8: "\\x1B".
std::string harmless(std::string_view text);

// The width of the terminal; for a file or a pipe $COLUMNS, or 80.
std::size_t terminal_columns(int file);

// The columns of a character: 0 for combining accents, 2 for wide characters such as Chinese.
std::size_t columns_of(char32_t c);

// Shortens the text to this many columns, with "…" at its end.
std::string fit_columns(const std::string& text, std::size_t columns);

// Wraps text that arrives in pieces, at words, at the edge of a terminal:
//   WordWrap wrap;
//   print(wrap.add("once u", 80));    // prints "once"; the unfinished word is held back
//   print(wrap.rest(80));             // at the end
class WordWrap {
  public:
    std::string add(std::string_view piece, std::size_t columns);
    std::string rest(std::size_t columns);

  private:
    std::string spaces_, word_;  // held back
    std::size_t column_ = 0;
};

}  // namespace inkling::cli

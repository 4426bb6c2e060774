// The terminal that a stream is, and how much room text takes there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inkling::cli {

// The text with what a terminal would obey (control characters but line ends and tabs) and bytes that are no UTF-8 by
// number: "\\x1B".
std::string harmless(std::string_view text);

// How wide it is; a file or a pipe: as $COLUMNS says, else 80.
std::size_t terminal_columns(int file);

// Columns that a character takes: 0 for accents that sit on the one before, 2 for those of Chinese.
std::size_t columns_of(char32_t c);
std::size_t display_width(std::string_view text);

// The text, or as much of its beginning as fits into so many columns with "…" behind it.
std::string fit_columns(const std::string& text, std::size_t columns);

// Where the cursor stands after `text`, which began in the first column of a terminal so wide: rows below.
struct Cursor {
    std::size_t row, column;
};
Cursor cursor_after(std::string_view text, std::size_t columns);

// Text that comes in pieces, with line ends where a word would be cut at the edge of a terminal:
//   WordWrap wrap;
//   print(wrap.add("once u", 80));    // "once", and the word that may go on is held back
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

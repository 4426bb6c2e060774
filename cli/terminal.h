// The terminal that a stream is, and how much room text takes there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inkling::cli {

// How wide it is; a file or a pipe: as $COLUMNS says, else 80.
std::size_t terminal_columns(int file);

// Columns that a character takes: 0 for accents that sit on the one before, 2 for those of Chinese.
std::size_t columns_of(char32_t c);
std::size_t display_width(std::string_view text);

// The text, or as much of its beginning as fits into so many columns with "…" behind it.
std::string fit_columns(const std::string& text, std::size_t columns);

// The column in which the cursor stands after `text`, which began in the first one of a terminal so wide.
std::size_t cursor_after(std::string_view text, std::size_t columns);

}  // namespace inkling::cli

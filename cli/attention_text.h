// Attention weights as text: for a terminal, and as numbers.
//   print(terminal_picture(map, HeadIndex{0, 3}, terminal));
//   print(number_table(map, HeadIndex{0, 3}, 80));   // in so many columns
#pragma once

#include <string>

#include "report/attention_map.h"

namespace inkling::cli {

using report::AttentionMap;
using report::HeadIndex;

struct Terminal {
    std::size_t columns = 80;
    bool colour = false;  // 256 colours for backgrounds; otherwise block characters
};
std::string terminal_picture(const AttentionMap& map, HeadIndex at, const Terminal& terminal);

// Three digits of each weight.
std::string number_table(const AttentionMap& map, HeadIndex at, std::size_t columns);

}  // namespace inkling::cli

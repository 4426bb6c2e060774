// Attention weights of one head as a heatmap of text:
//   print(terminal_picture(map, HeadIndex{0, 3}, terminal));
#pragma once

#include <string>

#include "web/report/attention_map.h"

namespace inkling::cli {

using web::AttentionMap;
using web::HeadIndex;

struct Terminal {
    std::size_t columns = 80;
    bool colour = false;  // 256 colours for backgrounds; otherwise block characters
};
std::string terminal_picture(const AttentionMap& map, HeadIndex at, const Terminal& terminal);

}  // namespace inkling::cli

// Heatmaps of attention weights: queries as rows, keys as columns, tokens as labels.
//   write_file_atomic("heads.svg", svg_picture(map, std::nullopt));    // grid: layers as rows, heads as columns
//   write_file_atomic("head.png", png_picture(map, HeadIndex{0, 3}));  // one head, large
#pragma once

#include <optional>
#include <string>

#include "web/report/attention_map.h"

namespace inkling::web {

std::string svg_picture(const AttentionMap& map, std::optional<HeadIndex> only);
std::string png_picture(const AttentionMap& map, std::optional<HeadIndex> only);

}  // namespace inkling::web

// Attention weights as one self-contained HTML page (a grid of all heads, one head large, and the text coloured by what
// each token attends to), as an SVG picture, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "web/report/attention_map.h"

namespace inkling::web {

// The page's data: each weight's position on the colour scale in a byte, so that a page of many heads stays small.
// `first` is the head shown large at first.
nlohmann::ordered_json attention_data(const AttentionMap& map, HeadIndex first = {0, 0});

// `first` is the head shown large when the page opens.
std::string attention_page(const AttentionMap& map, HeadIndex first);

// Heatmaps with queries as rows, keys as columns and tokens as labels: a grid with layers as rows and heads as columns,
// or one head, large. No other head of the map needs weights then.
std::string attention_svg(const AttentionMap& map, std::optional<HeadIndex> only);

// For other programs: an object with model, tokens, layers, heads, lens[layer][token], a token and its probability, and
// weights[layer][head][query][key], whose numbers round-trip to the same float. A head that was not requested is null.
std::string attention_json(const AttentionMap& map);

}  // namespace inkling::web

// Attention weights as one HTML page that needs nothing else: all heads as a grid, one of them large, and the text
// coloured by what each token attends to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "web/report/attention_map.h"

namespace inkling::web {

// What a page draws of it: for each weight its position on the colour scale, in a byte, so that a page of many heads
// stays light. `first` is the head that is shown large at first.
nlohmann::ordered_json attention_data(const AttentionMap& map, HeadIndex first = {0, 0});

// `first` is the head that is shown large when the page opens.
std::string attention_page(const AttentionMap& map, HeadIndex first);

// For other programs: one object with model, tokens, layers, heads and weights[layer][head][query][key], all numbers
// such that reading them gives the same float. A head that was not asked for is null.
std::string attention_json(const AttentionMap& map);

}  // namespace inkling::web

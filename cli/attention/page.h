// Attention weights as one HTML page that needs nothing else: all heads as a grid, one of them large, and the text
// coloured by what each token attends to. The page's own parts are the page*.html, .css and .js beside this file,
// built into the program.
#pragma once

#include <string>

#include "cli/attention/map.h"

namespace inkling::cli {

// `first` is the head that is shown large when the page opens.
std::string attention_page(const AttentionMap& map, HeadIndex first);

// For other programs: one object with model, tokens, layers, heads and weights[layer][head][query][key], all numbers
// such that reading them gives the same float.
std::string attention_json(const AttentionMap& map);

}  // namespace inkling::cli

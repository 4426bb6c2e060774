// Suggests the known word that a misspelt one likely means.
//   "unknown key 'n_layers'" + did_you_mean("n_layers", {"n_layer", "n_head"})   // ..., did you mean n_layer
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inkling {

// Edit distance with swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest known word by spelling, else the first with the same beginning or end; "" if none is near. Ignores case
// and leading dashes.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// ", did you mean WORD", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace inkling

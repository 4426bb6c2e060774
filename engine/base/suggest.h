// What was likely meant by a word that is none of those known: a command, a flag, a value, a key of a file.
//   "unknown key 'n_layers'" + did_you_mean("n_layers", {"n_layer", "n_head"})   // ..., did you mean n_layer
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inkling {

// How many letters must be added, dropped, changed or swapped with their neighbour (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word that is nearest by spelling, else the first that begins or ends alike; "" when none is near. Case and
// leading dashes do not count.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// ", did you mean WORD", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace inkling

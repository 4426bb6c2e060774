// The loss curves of runs as a picture, for a README: training loss as a line, validation loss as dots, and for one run
// on the built-in stories their entropy. The losses are on a logarithmic scale.
//   const auto surface = svg_surface("Loss");
//   draw_curves(*surface, {run_data("runs/mine")});
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "web/pictures/surface.h"

namespace inkling::web {

// Throws BadInput when no run has a loss that can be shown.
void draw_curves(Surface& surface, const std::vector<nlohmann::ordered_json>& runs);

}  // namespace inkling::web

// The loss curves of runs as a picture: training loss as a line, validation loss as dots, and for a single run on the
// built-in stories their entropy. The loss axis is logarithmic.
//   const auto surface = svg_surface("Loss");
//   draw_curves(*surface, {run_data("runs/mine")});
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "web/pictures/surface.h"

namespace inkling::web {

// Throws BadInput if no run has a finite loss.
void draw_curves(Surface& surface, const std::vector<nlohmann::ordered_json>& runs);

}  // namespace inkling::web

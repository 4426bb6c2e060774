// The weights of a model folder under the family's names and layouts. Errors list everything that does not fit.
//   const auto file = WeightFiles::open(folder);
//   check_weights(architecture, file);
//   load_weights(model, file, {});
#pragma once

#include <cstdint>
#include <vector>

#include "models/families/family.h"
#include "models/files/folder.h"
#include "models/files/weight_files.h"

namespace inkling::models {

std::vector<std::uint64_t> stored_shape(const Family& names, const ParameterSpec& p);

// Throws BadInput for weights that are missing, left over or of another shape than the architecture's. Allocates no
// memory by the architecture, which may claim any size.
void check_weights(const Architecture& a, const WeightFiles& file);
// Loads every parameter of the model; check_weights comes first. Throws BadInput for values that are not finite.
void load_weights(Transformer<float>& model, const WeightFiles& file, WeightStorage storage);

}  // namespace inkling::models

// The weights of a model folder, as its files have them: names and layouts are the family's, and what does not fit is
// named all at once.
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

// Throws BadInput for weights that are missing, left over, or of another shape than the architecture wants, which may
// claim anything: no memory is taken for it.
void check_weights(const Architecture& a, const WeightFiles& file);
// Into every parameter of the model, whose weights have been checked. Throws BadInput for values that are not finite.
void load_weights(Transformer<float>& model, const WeightFiles& file, WeightStorage storage);

}  // namespace inkling::models

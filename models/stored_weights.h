// The weights of a model folder, as its files have them: names and layouts are the family's, and what does not fit is
// named all at once.
//   load_weights(model, WeightFiles::open(folder), Kept::fp32);
#pragma once

#include <cstdint>
#include <vector>

#include "models/families/family.h"
#include "models/folder.h"
#include "models/weight_files.h"

namespace inkling::models {

std::vector<std::uint64_t> stored_shape(const Family& names, const Parameter& p);

// Into every parameter of the model. Throws BadInput for weights that are missing, left over, of another shape than its
// architecture wants, or not finite.
void load_weights(Transformer<float>& model, const WeightFiles& file, Kept kept);

}  // namespace inkling::models

// The rows of `inkling gradcheck` for the attention family.
#pragma once

#include "engine/gradcheck/gradcheck.h"

namespace inkling::nn {

std::vector<GradcheckRow> gradcheck_attention();

}  // namespace inkling::nn

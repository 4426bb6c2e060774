// The rows of `inkling gradcheck` for whole models.
#pragma once

#include "engine/gradcheck/gradcheck.h"

namespace inkling::models {

std::vector<GradcheckRow> gradcheck_models();

}  // namespace inkling::models

// The rows of `inkling gradcheck` for layers.
#pragma once

#include "engine/gradcheck.h"
#include "nn/module.h"

namespace inkling::nn {

// The worst relative error over a module's parameters and the inputs of f, which runs it. Random keys are the same in
// every run of f.
double module_gradient_error(Module<double>& module, Function f, const std::vector<Array<double>>& at);

std::vector<GradcheckRow> gradcheck_layers();

}  // namespace inkling::nn

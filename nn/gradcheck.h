// The rows of `inkling gradcheck` for layers.
#pragma once

#include "engine/base/random.h"
#include "engine/gradcheck/gradcheck.h"
#include "nn/module.h"

namespace inkling::nn {

// Runs a module on inputs; the generator restarts from the same state each time.
using ModuleFunction = FunctionRef<Tensor<double>(const Inputs& in, Generator* random)>;

// Which gradients are checked: the first, or the gradients of these, too.
enum class Orders { first, both };

// The worst relative error over a module's trained parameters and the inputs of f.
double module_gradient_error(Module<double>& module, ModuleFunction f, const std::vector<Array<double>>& at,
                             Orders orders = Orders::both);

std::vector<GradcheckRow> gradcheck_layers();
std::vector<GradcheckRow> gradcheck_attention();  // the attention family

}  // namespace inkling::nn

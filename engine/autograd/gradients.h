// Gradients as values, and gradients of gradients. Nothing is added to the grad() of leaves.
//   const Tensor<double> dx = gradients(y, {x})[0];                          // dy/dx
//   const Tensor<double> g = gradients(y, {x}, {.create_graph = true})[0];   // has a graph, so it is differentiated
//   too: sum(g * g).backward();                                                   // a gradient penalty
// engine/ops/derivatives.h has jacobian(), hessian(), jvp() and hvp().
#pragma once

#include <type_traits>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
struct GradientOptions {
    Tensor<T> dy = {};          // the cotangent of y; undefined: 1, for a y of one element
    bool create_graph = false;  // ops without a second derivative throw, and are named; the graph is kept
    bool keep_graph = false;    // for another run, as Graph::keep
};

// The sum of y * dy, differentiated with respect to each x, which is any tensor that requires a gradient: zeros where y
// does not depend on it.
template <class T>
std::vector<Tensor<T>> gradients(const Tensor<T>& y, const std::vector<Tensor<std::type_identity_t<T>>>& x,
                                 const GradientOptions<std::type_identity_t<T>>& options = {});

}  // namespace inkling

// Gradients as values, and gradients of gradients. They leave the grad() of leaves unchanged.
//   const Tensor<double> dx = gradients(y, {x})[0];                          // dy/dx
//   const Tensor<double> g = gradients(y, {x}, {.create_graph = true})[0];   // has a graph of its own:
//   sum(g * g).backward();                                                   // a gradient penalty
// engine/more/derivatives.h has jacobian(), hessian(), jvp() and hvp().
#pragma once

#include <type_traits>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
struct GradientOptions {
    Tensor<T> dy = {};          // the cotangent of y; undefined: 1, for a y of one element
    bool create_graph = false;  // an op without a second derivative throws and is named; keeps the graph
    bool keep_graph = false;    // keeps the graph for another run, like Graph::keep
};

// Differentiates the sum of y * dy with respect to each x, which may be any tensor that requires a gradient. The result
// is zeros if y does not depend on x.
template <class T>
std::vector<Tensor<T>> gradients(const Tensor<T>& y, const std::vector<Tensor<std::type_identity_t<T>>>& x,
                                 const GradientOptions<std::type_identity_t<T>>& options = {});

}  // namespace inkling

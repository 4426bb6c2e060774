// Derivatives of functions of one tensor, made of gradients() (engine/autograd/gradients.h). They work inside a NoGrad,
// too, add nothing to the grad() of leaves, and return values without a graph.
//   hessian([&](const auto& w) { return cross_entropy(linear(x, w), ids); }, w)
#pragma once

#include "engine/autograd/gradients.h"
#include "engine/base/function_ref.h"

namespace inkling {

template <class T>
using TensorFunction = FunctionRef<Tensor<T>(const Tensor<T>&)>;

// df/dx, of f's shape followed by x's. Runs backward once for each element of f.
template <class T>
Tensor<T> jacobian(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x);
// The second derivatives of an f of one element, of x's shape twice. Runs backward once for each element of x.
template <class T>
Tensor<T> hessian(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x);

// The Jacobian times v, of x's shape: how f changes where x moves along v. The gradient of a gradient: J^T u is linear
// in u, and its gradient under v is J v.
template <class T>
Tensor<T> jvp(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x, const Tensor<T>& v);
// The Hessian times v, without the Hessian: the gradient of (df/dx . v).
template <class T>
Tensor<T> hvp(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x, const Tensor<T>& v);

}  // namespace inkling

// Derivatives of functions of one tensor, built on gradients() (engine/autograd/gradients.h). They also work inside a
// NoGrad, leave the grad() of leaves unchanged, and return values without a graph.
//   hessian([&](const auto& w) { return cross_entropy(linear(x, w), ids); }, w)
#pragma once

#include "engine/autograd/gradients.h"
#include "engine/base/function_ref.h"

namespace inkling {

template <class T>
using TensorFunction = FunctionRef<Tensor<T>(const Tensor<T>&)>;

// df/dx, with f's shape followed by x's. Runs backward once for each element of f.
template <class T>
Tensor<T> jacobian(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x);
// The second derivatives of a scalar f, with x's shape twice. Runs backward once for each element of x.
template <class T>
Tensor<T> hessian(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x);

// The Jacobian times v, which has x's shape: the change of f as x moves along v. It is the gradient of a gradient:
// J^T u is linear in u, and its gradient under v is J v.
template <class T>
Tensor<T> jvp(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x, const Tensor<T>& v);
// The Hessian times v, without building the Hessian: the gradient of (df/dx . v).
template <class T>
Tensor<T> hvp(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x, const Tensor<T>& v);

}  // namespace inkling

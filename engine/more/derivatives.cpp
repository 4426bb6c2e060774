#include "engine/more/derivatives.h"

#include "engine/base/both_types.h"

#include <algorithm>

namespace inkling {
namespace {

template <class T>
void check_direction(const char* what, const Tensor<T>& x, const Tensor<T>& v) {
    check_defined(what, x, v);
    check(x.shape() == v.shape(), "{}: expected a direction of x's shape, got {} for {}", what, v.shape(), x.shape());
}

// The gradient of f at a leaf x, with a graph; zeros if f does not depend on x.
template <class T>
Tensor<T> gradient_at(const char* what, TensorFunction<T> f, const Tensor<T>& x) {
    const Tensor<T> y = f(x);
    check(y.size() == 1, "{}: expected a function whose value is one number, got shape {}", what, y.shape());
    return y.requires_grad() ? gradients(y, {x}, {.create_graph = true})[0] : Tensor<T>::zeros(x.shape());
}

}  // namespace

template <class T>
Tensor<T> jacobian(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x) {
    check_defined("jacobian", x);
    const EnableGrad scope;
    const Tensor<T> leaf(x.value(), true), y = f(leaf);
    Shape shape = y.shape();
    for (const std::size_t size : x.shape()) shape.push_back(size);
    Array<T> rows(shape, T{0});  // they stay zeros if y does not depend on x
    for (std::size_t i = 0; y.requires_grad() && i < y.size(); ++i) {
        Array<T> dy(y.shape(), T{0});
        dy.data()[i] = T{1};
        const Tensor<T> g = gradients(y, {leaf}, {.dy = Tensor<T>(dy), .keep_graph = true})[0];
        const ConstArray<T> row = g.value().contiguous();
        std::copy(row.data(), row.data() + row.size(), rows.data() + i * row.size());
    }
    return Tensor<T>(rows);
}

template <class T>
Tensor<T> hessian(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x) {
    check_defined("hessian", x);
    return jacobian([&](const Tensor<T>& leaf) { return gradient_at<T>("hessian", f, leaf); }, x);
}

template <class T>
Tensor<T> jvp(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x, const Tensor<T>& v) {
    check_direction("jvp", x, v);
    const EnableGrad scope;
    const Tensor<T> leaf(x.value(), true), y = f(leaf);
    const Tensor<T> u = Tensor<T>::zeros(y.shape(), true);
    if (!y.requires_grad()) return u.detach();
    const Tensor<T> g = gradients(y, {leaf}, {.dy = u, .create_graph = true})[0];
    return g.requires_grad() ? gradients(g, {u}, {.dy = v})[0] : u.detach();
}

template <class T>
Tensor<T> hvp(TensorFunction<std::type_identity_t<T>> f, const Tensor<T>& x, const Tensor<T>& v) {
    check_direction("hvp", x, v);
    const EnableGrad scope;
    const Tensor<T> leaf(x.value(), true), g = gradient_at<T>("hvp", f, leaf);
    return g.requires_grad() ? gradients(g, {leaf}, {.dy = v})[0] : Tensor<T>::zeros(x.shape());
}

INKLING_BOTH_TYPES(jacobian<T>, hessian<T>, jvp<T>, hvp<T>);

}  // namespace inkling

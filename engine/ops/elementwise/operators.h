// Operators between two tensors, and between a tensor and a number or an array, which counts as a constant.
//   y = 2 * x + 1;   y = 1 / x - x.value();
//   y += x;          // y = y + x: binds the variable y to a new tensor; copies of the old y keep its value and graph
// A leaf is not rebound: w += ... is an error if w wants a gradient, because the parameter itself would not change.
// w.value_in_place() += ... writes to it.
#pragma once

#include <compare>
#include <concepts>
#include <type_traits>

#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/unary.h"

namespace inkling {

template <class T>
Tensor<T> operator-(const Tensor<T>& x) {
    return neg(x);
}

template <class X>
inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<Tensor<T>> = true;

template <class A, class B>
concept WithTensor = is_tensor<std::remove_cvref_t<A>> || is_tensor<std::remove_cvref_t<B>>;
template <class A, class B>
concept TensorAndOther = WithTensor<A, B> && !std::same_as<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;
template <class X>
concept Number = std::is_arithmetic_v<std::remove_cvref_t<X>>;

template <class A, class B>  // the type of the operand that is a tensor
using ElementOf = typename std::conditional_t<is_tensor<std::remove_cvref_t<A>>, std::remove_cvref_t<A>,
                                              std::remove_cvref_t<B>>::value_type;

// The other operand, as a Tensor<T>.
template <class T, class X>
Tensor<T> as_tensor(const X& x) {
    if constexpr (std::is_same_v<X, Tensor<T>>) {
        return x;
    } else if constexpr (std::is_arithmetic_v<X>) {
        return Tensor<T>::full({}, static_cast<T>(x));
    } else if constexpr (std::is_convertible_v<const X&, ConstArray<T>>) {
        return Tensor<T>(ConstArray<T>(x));
    } else {
        static_assert(!is_tensor<X>, "both tensors must be of float, or both of double");
        static_assert(is_tensor<X>, "beside a tensor there may be another one, a number or an array");
        return Tensor<T>();
    }
}

template <class A, class B>
requires WithTensor<A, B>
auto operator+(A&& a, B&& b) {
    using T = ElementOf<A, B>;
    if constexpr (Number<A>)
        return affine(b, 1.0, static_cast<double>(a));
    else if constexpr (Number<B>)
        return affine(a, 1.0, static_cast<double>(b));
    else
        return add(as_tensor<T>(a), as_tensor<T>(b));
}
template <class A, class B>
requires WithTensor<A, B>
auto operator-(A&& a, B&& b) {
    using T = ElementOf<A, B>;
    if constexpr (Number<A>)
        return affine(b, -1.0, static_cast<double>(a));
    else if constexpr (Number<B>)
        return affine(a, 1.0, -static_cast<double>(b));
    else
        return sub(as_tensor<T>(a), as_tensor<T>(b));
}
template <class A, class B>
requires WithTensor<A, B>
auto operator*(A&& a, B&& b) {
    using T = ElementOf<A, B>;
    if constexpr (Number<A>)
        return affine(b, static_cast<double>(a), 0.0);
    else if constexpr (Number<B>)
        return affine(a, static_cast<double>(b), 0.0);
    else
        return mul(as_tensor<T>(a), as_tensor<T>(b));
}
template <class A, class B>
requires WithTensor<A, B>
auto operator/(A&& a, B&& b) {
    using T = ElementOf<A, B>;
    return div(as_tensor<T>(a), as_tensor<T>(b));
}

// maximum(x, 0.0), pow(2.0, x); pow(x, 2.0) is in unary.h
template <class A, class B>
requires TensorAndOther<A, B>
auto maximum(A&& a, B&& b) { return maximum(as_tensor<ElementOf<A, B>>(a), as_tensor<ElementOf<A, B>>(b)); }
template <class A, class B>
requires TensorAndOther<A, B>
auto minimum(A&& a, B&& b) { return minimum(as_tensor<ElementOf<A, B>>(a), as_tensor<ElementOf<A, B>>(b)); }
template <class A, class B>
requires TensorAndOther<A, B> &&(!Number<B>)auto pow(A&& a, B&& b) {
    return pow(as_tensor<ElementOf<A, B>>(a), as_tensor<ElementOf<A, B>>(b));
}

template <class T>
Tensor<T>& rebind(const char* op, Tensor<T>& x, Tensor<T> y) {
    check(!x.node() || !x.node()->is_leaf(),
          "{}: the variable would be bound to a new tensor, and the parameter stay as it is: write value_in_place() {} "
          "... for the parameter itself, or a new tensor",
          op, op);
    return x = std::move(y);
}
template <class T, class X>
Tensor<T>& operator+=(Tensor<T>& x, const X& other) {
    return rebind("+=", x, x + other);
}
template <class T, class X>
Tensor<T>& operator-=(Tensor<T>& x, const X& other) {
    return rebind("-=", x, x - other);
}
template <class T, class X>
Tensor<T>& operator*=(Tensor<T>& x, const X& other) {
    return rebind("*=", x, x * other);
}
template <class T, class X>
Tensor<T>& operator/=(Tensor<T>& x, const X& other) {
    return rebind("/=", x, x / other);
}

// Tensors cannot be compared: these operators only name the alternative.
template <class A, class B>
requires WithTensor<A, B> std::partial_ordering operator<=>(A&&, B&&) {
    static_assert(!WithTensor<A, B>, "compare the values of tensors: x.item() < 1, or x.value() < y.value()");
    return std::partial_ordering::unordered;
}
template <class A, class B>
requires WithTensor<A, B>
bool operator==(A&&, B&&) {
    static_assert(!WithTensor<A, B>, "compare the values of tensors: x.item() == 1, or x.value() == y.value()");
    return false;
}

}  // namespace inkling

// The one helper of ops y = f(x), element by element:
//   return unary_op("tanh", x, Saves::output, [](auto v) { return xsimd::tanh(v); },   // y
//                   [](auto dy, auto y) { return dy * (Vec<T>(T{1}) - y * y); });       // dx, of dy and what is saved
// Both functions take and return Vec<T>.
#pragma once

#include <functional>

#include "engine/array/map.h"
#include "engine/autograd/tensor.h"

namespace inkling {

// What the gradient is computed from, beside dy.
enum class Saves {
    nothing,  // the second argument is dy again
    input,
    output,
    // The input of an activation whose output the next product takes. With bfloat16 products a large input is kept
    // rounded, as its output is rounded for the product anyway; and the output need not be kept for that product's
    // backward, because it can be made again.
    rounded_input,
};

template <class T>
using SavedRow = std::function<void(std::size_t n, T* out, const T* const* in)>;

template <class T>
Tensor<T> unary_op_of_rows(const char* op, Tensor<T> x, Saves saves, SavedRow<T> value, SavedRow<T> gradient);

// Works in x's own memory where the caller gives it up and nothing else holds it, and backward in dy's.
template <class T, class F, class G>
Tensor<T> unary_op(const char* op, Tensor<T> x, Saves saves, const F& value, const G& gradient) {
    return unary_op_of_rows<T>(op, std::move(x), saves, map_row<T, 1>(value), map_row<T, 2>(gradient));
}

}  // namespace inkling

// The helper of elementwise ops y = f(x):
//   return unary_op("tanh", x, Saves::output, [](auto v) { return portable::tanh(v); },   // y
//                   [](auto dy, auto y) { return dy * (1 - y * y); });   // dx from dy and the saved value
// Both functions take and return Vec<T>; the second also takes tensors (formula.h).
#pragma once

#include <functional>

#include "engine/array/map.h"
#include "engine/autograd/tensor.h"
#include "engine/ops/elementwise/formula.h"
#include "engine/weights/operand.h"

namespace inkling {

// The value that the gradient needs beside dy.
enum class Saves {
    nothing,  // the second argument is dy again
    input,    // the output can be recomputed, so that the op that takes it need not save it
    output,
    // The input of an activation before a matrix product. With bfloat16 products a large input is saved rounded,
    // because the product rounds the output anyway.
    rounded_input,
};

// 1 + v^2 is v^2 for larger |v|, whose square may be infinite.
template <class T>
inline constexpr T kLargeSquare = T(0x1p30);

template <class T>
using SavedRow = std::function<void(std::size_t n, T* out, const T* const* in)>;
// The same for the gradient. If `tensors` is given, it holds dy and the saved value, and the result replaces dy.
template <class T>
using GradientRow = std::function<void(std::size_t n, T* out, const T* const* in, Tensor<T>* tensors)>;

// What can_recompute() gets of an op that saves its input. mul() asks for this type: such a value needs no other op.
template <class T>
struct UnaryAgain {
    Operand<T> saved;
    SavedRow<T> value;
    ConstArray<T> operator()() const;
};

template <class T>
Tensor<T> unary_op_of_rows(const char* op, Tensor<T> x, Saves saves, SavedRow<T> value, GradientRow<T> gradient);

// Works in x's memory if the caller moves x in and nothing else holds it; backward works in dy's.
template <class T, class F, class G>
Tensor<T> unary_op(const char* op, Tensor<T> x, Saves saves, const F& value, const G& gradient) {
    const auto either = [gradient](std::size_t n, T* out, const T* const* in, Tensor<T>* tensors) {
        if (tensors)
            tensors[0] = formula_of_tensors(gradient, tensors[0], tensors[1]);
        else
            simd_map(n, out, {in[0], in[1]}, gradient);
    };
    return unary_op_of_rows<T>(op, std::move(x), saves, map_row<T, 1>(value), either);
}

}  // namespace inkling

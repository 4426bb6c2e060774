// Arrays of bfloat16, as operands of matrix products.
//   Array<BFloat16> h = round_to_bfloat16(x);     // rounds to nearest, ties to even; NaN stays NaN
#pragma once

#include "engine/array/array.h"
#include "engine/base/half.h"

namespace inkling {

extern template class ConstArray<BFloat16>;
extern template class Array<BFloat16>;

Array<BFloat16> round_to_bfloat16(const ConstArray<float>& x);  // contiguous, whatever the strides of x
Array<float> widen(const ConstArray<BFloat16>& h);

// Rounds a dense x (rows, columns) and sums its columns, in one pass.
Array<BFloat16> round_and_sum(const ConstArray<float>& x, Array<float>& column_sums);

}  // namespace inkling

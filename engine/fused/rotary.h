// Rotary position embedding (Su et al. 2021, RoFormer): rotates pairs of a query's or key's numbers by an angle that
// grows with the position, so that their dot product depends on the distance between them.
#pragma once

#include "engine/ops/plain/rotary.h"

namespace inkling {

// Rotates pair i of the row at position p of x (..., L, d), d even, by p base^(-2i/d):
//   y1 = x1 cos - x2 sin,  y2 = x2 cos + x1 sin
template <class T>
Tensor<T> rotary(const Tensor<T>& x, const RotaryOptions& options = {});

// The same with any angles, for the first r of d numbers; the rest pass through. `table` (n, 2, r / 2): cos and sin of
// the angles at positions 0 .. n - 1. Rows are at positions 0, 1, ... or at `positions`, as in RotaryOptions.
template <class T>
Tensor<T> rotate(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& table, const IdArray& positions = {},
                 RotaryPairs pairs = RotaryPairs::halves);

}  // namespace inkling

// Rotary positions as an Architecture has them: of all numbers of a head or the first of them, with angles that may be
// scaled for longer contexts.
//   Tensor<float> q = rotate(heads, architecture);     // heads (B, H, T, d)
#pragma once

#include <vector>

#include "engine/tensor.h"
#include "models/architecture.h"

namespace inkling::models {

// Pair i of a head at position p is rotated by p rates[i]: r / 2 of them, r = rotary_size().
std::vector<double> rotary_rates(const Architecture& architecture);

// What RopeScaling divides each of the rates by: r / 2 of them.
std::vector<double> rotary_divisors(const Architecture& architecture);

// cos and sin of the angles at positions start .. start + rows - 1: (rows, 2, r / 2).
template <class T>
std::vector<T> rotary_table(const Architecture& architecture, std::size_t start, std::size_t rows);

// Queries or keys (..., L, d) at positions from `start` on; or, of (B, H, L, d), at `positions` (B, L).
template <class T>
Tensor<T> rotate(const Tensor<T>& heads, const Architecture& architecture, std::size_t start = 0,
                 const IdArray& positions = {});

}  // namespace inkling::models

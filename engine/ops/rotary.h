// Rotary positions (Su et al. 2021, RoFormer): pairs of a query's or key's numbers are rotated by an angle that grows
// with the position, so that the product of a query and a key depends on the distance between them.
#pragma once

#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

enum class RotaryPairs {
    halves,       // (x_i, x_{i + r/2}): GPT-NeoX, Hugging Face's Llama
    interleaved,  // (x_2i, x_{2i+1}): RoFormer, GPT-J
};

struct RotaryOptions {
    double base = 10000;
    RotaryPairs pairs = RotaryPairs::halves;
    bool clockwise = false;  // rotates by -angle, as nanochat does: y1 = x1 c + x2 s, y2 = x2 c - x1 s
    std::size_t start = 0;   // the first row's position
    IdArray positions = {};  // of x (B, ..., L, d), instead: (B, L); undefined: start, start + 1, ...
};

// x (..., L, d), d even: pair i of the row at position p is rotated by p base^(-2i/d):
//   y1 = x1 cos - x2 sin,  y2 = x2 cos + x1 sin
template <class T>
Tensor<T> rotary(const Tensor<T>& x, const RotaryOptions& options = {});

// The same by any angles, of the first r of d numbers; the others stay. `table` (n, 2, r / 2): cos and sin of the
// angles of positions 0 .. n - 1, which are those of the rows, or as in RotaryOptions.
template <class T>
Tensor<T> rotate(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& table, const IdArray& positions = {},
                 RotaryPairs pairs = RotaryPairs::halves);

// base^(-2i/d), i < d / 2: by how much the angle of pair i grows from a position to the next.
std::vector<double> rotary_rates(std::size_t d, double base);

// cos and sin of the angles, of their negatives if clockwise, at positions start .. start + rows - 1: (rows, 2, rates).
template <class T>
ConstArray<T> rotary_table(const std::vector<double>& rates, std::size_t start, std::size_t rows,
                           bool clockwise = false);

}  // namespace inkling

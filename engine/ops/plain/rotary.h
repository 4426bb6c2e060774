// The angles of rotary position embedding (Su et al. 2021, RoFormer), and the rotation as its formula says:
// engine/fused/rotary.h has the same function, fast.
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
    std::size_t start = 0;   // position of the first row
    IdArray positions = {};  // overrides start: (B, L) for x (B, ..., L, d)
};

// base^(-2i/d), i < d / 2: the angle of pair i per position.
std::vector<double> rotary_rates(std::size_t d, double base);

// cos and sin of the angles (negated if clockwise) at positions start .. start + rows - 1: (rows, 2, rates).
template <class T>
ConstArray<T> rotary_table(const std::vector<double>& rates, std::size_t start, std::size_t rows,
                           bool clockwise = false);

namespace plain {

// Rotates pair i of the row at position p of x (..., L, d) by the angle whose cos and sin are table[p][.][i], for the
// first r of d numbers; the rest pass through. table (n, 2, r / 2); positions (B, L), or undefined: 0, 1, ...
template <class T>
Tensor<T> rotate(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& table, const IdArray& positions = {},
                 RotaryPairs pairs = RotaryPairs::halves);

}  // namespace plain
}  // namespace inkling

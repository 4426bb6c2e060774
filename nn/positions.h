// Position encodings: attention by itself sees a set of tokens; these tell it the order.
#pragma once

#include "engine/ops/elementwise/operators.h"
#include "engine/ops/shape/shape.h"
#include "nn/init.h"

namespace inkling::nn {

// (length, width): PE[p, 2i] = sin(p / 10000^(2i/width)), PE[p, 2i+1] = cos of the same (Vaswani et al. 2017).
// The width must be even.
template <class T>
Array<T> sinusoidal_positions(std::size_t length, std::size_t width);

// A learned vector for each of the first `length` positions.
template <class T>
class LearnedPositions : public Module<T> {
  public:
    LearnedPositions(Generator& random, std::size_t length, std::size_t width)
        : weight(parameter<T>({length, width}, Initial::normal(0.02), random)) {}

    // x (..., L, width) + the vectors of positions start .. start + L - 1.
    Tensor<T> forward(const Tensor<T>& x, std::size_t start = 0) const {
        check(x.rank() >= 2 && x.dim(-1) == weight.dim(1) && start + x.dim(-2) <= weight.dim(0),
              "LearnedPositions: expected x (..., L, {}) with at most {} positions, got shape {} from position {}",
              weight.dim(1), weight.dim(0), x.shape(), start);
        return add(x, slice(weight, 0, start, start + x.dim(-2)));
    }
    void visit(const Visitor<T>& v) override { v("weight", weight, {Role::embedding}); }

    Tensor<T> weight;  // (length, width)
};

}  // namespace inkling::nn

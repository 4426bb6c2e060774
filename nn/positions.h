// Position encodings: attention by itself sees a set of tokens; these tell it the order.
#pragma once

#include "nn/embedding.h"

namespace inkling::nn {

// (length, width): PE[p, 2i] = sin(p / 10000^(2i/width)), PE[p, 2i+1] = cos of the same (Vaswani et al. 2017).
// The width must be even.
template <class T>
Array<T> sinusoidal_positions(std::size_t length, std::size_t width);

// A learned vector for each of the first `length` positions.
template <class T>
class LearnedPositions : public Module<T> {
  public:
    LearnedPositions(Generator& random, std::size_t length, std::size_t width);

    // x (..., L, width) + the vectors of positions start .. start + L - 1.
    Tensor<T> forward(const Tensor<T>& x, std::size_t start = 0) const;
    void visit(const Visitor<T>& v) override { v("weight", weight, {Role::embedding}); }

    Tensor<T> weight;  // (length, width)
};

extern template class LearnedPositions<float>;
extern template class LearnedPositions<double>;

}  // namespace inkling::nn

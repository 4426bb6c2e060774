// A table of vectors, one for each id.
#pragma once

#include "engine/fused/embedding.h"
#include "nn/init.h"

namespace inkling::nn {

template <class T>
class Embedding : public Module<T> {
  public:
    // Initial values N(0, 1), as torch.nn.Embedding.
    Embedding(Generator& random, std::size_t count, std::size_t width) {
        check(count > 0 && width > 0, "Embedding: expected sizes above 0, got {} ids of width {}", count, width);
        weight = parameter<T>({count, width}, Initial::normal(1), random);
    }

    Tensor<T> forward(const IdArray& ids) const { return embedding(ids, weight); }  // (...) -> (..., width)
    void visit(const Visitor<T>& v) override { v("weight", weight, {Role::embedding}); }

    Tensor<T> weight;  // (count, width)
};

}  // namespace inkling::nn

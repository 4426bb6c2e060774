// A table of vectors, one for each id.
#pragma once

#include "engine/base/random.h"
#include "nn/module.h"

namespace inkling::nn {

template <class T>
class Embedding : public Module<T> {
  public:
    Embedding(Generator& random, std::size_t count,
              std::size_t width);  // initial values N(0, 1), as torch.nn.Embedding

    Tensor<T> forward(const IdArray& ids) const;  // (...) -> (..., width)
    void visit(const Visitor<T>& v) override { v("weight", weight, {Role::embedding}); }

    Tensor<T> weight;  // (count, width)
};

extern template class Embedding<float>;
extern template class Embedding<double>;

}  // namespace inkling::nn

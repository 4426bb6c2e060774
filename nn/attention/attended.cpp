#include "nn/attention/attended.h"

#include <cmath>
#include <limits>

#include "engine/broadcast.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/mask.h"
#include "engine/ops/matmul.h"
#include "engine/ops/shape.h"

namespace inkling::nn {

template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k) {
    return scale(matmul(q, transpose(k, -2, -1)), 1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
}

template <class T>
Tensor<T> block_scores(const char* op, const Tensor<T>& scores, const MaskArray& mask) {
    if (!mask.defined()) return scores;
    check(broadcasts_to(mask.shape(), scores.shape()), "{}: the mask must broadcast to the scores {}, got {}", op,
          scores.shape(), mask.shape());
    MaskArray blocked = mask.clone();
    for (std::size_t i = 0; i < blocked.size(); ++i) blocked.data()[i] = !blocked.data()[i];
    return masked_fill(scores, blocked, -std::numeric_limits<double>::infinity());
}

#define INKLING_INSTANTIATE(T)                                            \
    template Tensor<T> scaled_scores(const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> block_scores(const char*, const Tensor<T>&, const MaskArray&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn

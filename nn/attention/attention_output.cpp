#include "nn/attention/attention_output.h"

#include <cmath>

#include "engine/ops/matmul.h"
#include "engine/ops/operators.h"
#include "engine/ops/shape.h"

namespace inkling::nn {

template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k) {
    return scale(matmul(q, transpose(k, -2, -1)), 1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
}

template Tensor<float> scaled_scores(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> scaled_scores(const Tensor<double>&, const Tensor<double>&);

}  // namespace inkling::nn

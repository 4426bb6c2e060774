#include "nn/attention/single_head.h"

#include "engine/ops/matmul.h"

namespace inkling::nn {

template <class T>
Attention<T>::Attention(std::unique_ptr<Score<T>> scoring_function, double dropout_p)
    : score(std::move(scoring_function)), dropout(dropout_p) {
    check(score != nullptr, "Attention: a scoring function is required");
}

template <class T>
AttentionOutput<T> Attention<T>::forward(const Tensor<T>& Q, const Tensor<T>& K, const Tensor<T>& V,
                                         const ValidLengths& valid_lens, Generator* random) const {
    check(V.rank() == 3 && K.rank() == 3 && V.dim(0) == K.dim(0) && V.dim(1) == K.dim(1),
          "Attention: keys (B, Lk, dk) and values (B, Lk, dv) are required, got {} and {}", K.shape(), V.shape());
    const Tensor<T> weights = masked_softmax(score->forward(Q, K), valid_lens);  // (B, Lq, Lk)
    return {matmul(dropout.forward(weights, random), V), weights};
}

template <class T>
AdditiveAttention<T>::AdditiveAttention(Generator& random, std::size_t key_size, std::size_t query_size,
                                        std::size_t num_hiddens, double dropout_p)
    : attention(std::make_unique<AdditiveScore<T>>(random, query_size, key_size, num_hiddens), dropout_p) {}

template <class T>
AttentionOutput<T> AdditiveAttention<T>::forward(const Tensor<T>& queries, const Tensor<T>& keys,
                                                 const Tensor<T>& values, const ValidLengths& valid_lens,
                                                 Generator* random) const {
    return attention.forward(queries, keys, values, valid_lens, random);
}

template <class T>
void AdditiveAttention<T>::visit(const Visitor<T>& v) {
    if (v.on_module) {
        v.on_module(v.prefix + "score", *attention.score);
        v.on_module(v.prefix + "dropout", attention.dropout);
    }
    attention.score->visit(v);
}

template class Attention<float>;
template class Attention<double>;
template class AdditiveAttention<float>;
template class AdditiveAttention<double>;

}  // namespace inkling::nn

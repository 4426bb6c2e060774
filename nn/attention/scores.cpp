#include "nn/attention/scores.h"

#include <cmath>

#include "engine/ops.h"
#include "nn/init.h"

namespace inkling::nn {
namespace {

template <class T>
void check_pair(const char* name, const Tensor<T>& Q, const Tensor<T>& K, std::size_t dq, std::size_t dk) {
    check(Q.rank() == 3 && K.rank() == 3 && Q.dim(0) == K.dim(0) && Q.dim(2) == dq && K.dim(2) == dk,
          "{}: queries (B, Lq, {}) and keys (B, Lk, {}) are required, got {} and {}", name, dq, dk, Q.shape(),
          K.shape());
}

Initial uniform(std::size_t width) { return Initial::uniform(1.0 / std::sqrt(static_cast<double>(width))); }

}  // namespace

template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k) {
    return scale(matmul(q, transpose(k, -2, -1)), 1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
}

template <class T>
Tensor<T> DotScore<T>::forward(const Tensor<T>& Q, const Tensor<T>& K) const {
    check_pair("DotScore", Q, K, Q.dim(-1), Q.dim(-1));
    return matmul(Q, transpose(K, 1, 2));
}

template <class T>
Tensor<T> ScaledDotScore<T>::forward(const Tensor<T>& Q, const Tensor<T>& K) const {
    check_pair("ScaledDotScore", Q, K, Q.dim(-1), Q.dim(-1));
    return scaled_scores(Q, K);
}

template <class T>
BilinearScore<T>::BilinearScore(Generator& random, std::size_t dq, std::size_t dk)
    : W(parameter<T>({dq, dk}, uniform(dk), random)) {}

template <class T>
Tensor<T> BilinearScore<T>::forward(const Tensor<T>& Q, const Tensor<T>& K) const {
    check_pair("BilinearScore", Q, K, W.dim(0), W.dim(1));
    return matmul(matmul(Q, W), transpose(K, 1, 2));  // (B, Lq, dk) (B, dk, Lk)
}

template <class T>
ConcatScore<T>::ConcatScore(Generator& random, std::size_t dq, std::size_t dk)
    : w(parameter<T>({dq + dk}, uniform(dq + dk), random)) {}

template <class T>
Tensor<T> ConcatScore<T>::forward(const Tensor<T>& Q, const Tensor<T>& K) const {
    const std::size_t dq = Q.dim(-1), both = w.dim(0);
    check(dq < both, "ConcatScore: queries narrower than {} are required, got {}", both, Q.shape());
    check_pair("ConcatScore", Q, K, dq, both - dq);
    // w^T [q; k] is one number per query plus one per key, so the pairs are never concatenated.
    const Tensor<T> of_query = matmul(Q, reshape(slice(w, 0, 0, dq), {dq, 1}));          // (B, Lq, 1)
    const Tensor<T> of_key = matmul(K, reshape(slice(w, 0, dq, both), {both - dq, 1}));  // (B, Lk, 1)
    return add(of_query, transpose(of_key, 1, 2));
}

template <class T>
AdditiveScore<T>::AdditiveScore(Generator& random, std::size_t dq, std::size_t dk, std::size_t num_hiddens)
    : W_k(random, dk, num_hiddens, false), W_q(random, dq, num_hiddens, false), w_v(random, num_hiddens, 1, false) {}

template <class T>
Tensor<T> AdditiveScore<T>::forward(const Tensor<T>& Q, const Tensor<T>& K) const {
    check_pair("AdditiveScore", Q, K, W_q.weight.dim(1), W_k.weight.dim(1));
    const std::size_t B = Q.dim(0), Lq = Q.dim(1), Lk = K.dim(1), h = W_q.weight.dim(0);
    const Tensor<T> q = reshape(W_q.forward(Q), {B, Lq, 1, h}), k = reshape(W_k.forward(K), {B, 1, Lk, h});
    return reshape(w_v.forward(tanh(add(q, k))), {B, Lq, Lk});  // (B, Lq, Lk, h) -> (B, Lq, Lk, 1) -> (B, Lq, Lk)
}

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

#define INKLING_INSTANTIATE(T)           \
    template class DotScore<T>;          \
    template class ScaledDotScore<T>;    \
    template class BilinearScore<T>;     \
    template class ConcatScore<T>;       \
    template class AdditiveScore<T>;     \
    template class Attention<T>;         \
    template class AdditiveAttention<T>; \
    template Tensor<T> scaled_scores(const Tensor<T>&, const Tensor<T>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn

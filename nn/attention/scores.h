// Scoring functions f(Q, K), which rate how well each query matches each key, and Attention, one head with any of them:
// softmax over the valid keys, dropout, average of the values.
//   Attention<float> attention(std::make_unique<BilinearScore<float>>(random, 16, 24), 0.1);
//   auto [y, weights] = attention.forward(queries, keys, values, valid_lens, &random);
#pragma once

#include <memory>

#include "nn/attention/masks.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace inkling::nn {

// q k^T / sqrt(d): q (..., Lq, d), k (..., Lk, d) -> (..., Lq, Lk).
template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k);

template <class T>
class Score : public Module<T> {
  public:
    // Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)
    virtual Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const = 0;
    void visit(const Visitor<T>&) override {}
};

// Q^T K; widths must be equal.
template <class T>
class DotScore : public Score<T> {
  public:
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override;
};

// Q^T K / sqrt(d): the variance is 1 at any width (Vaswani et al. 2017).
template <class T>
class ScaledDotScore : public Score<T> {
  public:
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override;
};

// Q^T W K, W (dq, dk) (Luong et al. 2015, "general").
template <class T>
class BilinearScore : public Score<T> {
  public:
    BilinearScore(Generator& random, std::size_t dq, std::size_t dk);
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override;
    void visit(const Visitor<T>& v) override { v("W", W); }

    Tensor<T> W;
};

// w^T [Q; K], w (dq + dk).
template <class T>
class ConcatScore : public Score<T> {
  public:
    ConcatScore(Generator& random, std::size_t dq, std::size_t dk);
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override;
    void visit(const Visitor<T>& v) override { v("w", w); }

    Tensor<T> w;
};

// w_v^T tanh(W_q Q + W_k K) (Bahdanau et al. 2015), without biases.
template <class T>
class AdditiveScore : public Score<T> {
  public:
    AdditiveScore(Generator& random, std::size_t dq, std::size_t dk, std::size_t num_hiddens);
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override;
    void visit(const Visitor<T>& v) override {
        v("W_k", W_k);
        v("W_q", W_q);
        v("w_v", w_v);
    }

    Linear<T> W_k, W_q, w_v;
};

template <class T>
class Attention : public Module<T> {
  public:
    Attention(std::unique_ptr<Score<T>> scoring_function, double dropout_p);

    // Q (B, Lq, dq), K (B, Lk, dk), V (B, Lk, dv) -> output (B, Lq, dv), weights (B, Lq, Lk) before dropout.
    AttentionOutput<T> forward(const Tensor<T>& Q, const Tensor<T>& K, const Tensor<T>& V,
                               const ValidLengths& valid_lens = {}, Generator* random = nullptr) const;
    void visit(const Visitor<T>& v) override {
        v("score", *score);
        v("dropout", dropout);
    }

    std::unique_ptr<Score<T>> score;
    Dropout<T> dropout;
};

// Attention with the additive score, whose parameters are named W_k, W_q, w_v.
template <class T>
class AdditiveAttention : public Module<T> {
  public:
    AdditiveAttention(Generator& random, std::size_t key_size, std::size_t query_size, std::size_t num_hiddens,
                      double dropout_p);

    // queries (B, Lq, query_size), keys (B, Lk, key_size), values (B, Lk, dv).
    AttentionOutput<T> forward(const Tensor<T>& queries, const Tensor<T>& keys, const Tensor<T>& values,
                               const ValidLengths& valid_lens = {}, Generator* random = nullptr) const;
    void visit(const Visitor<T>& v) override;

    Attention<T> attention;
};

extern template class DotScore<float>;
extern template class DotScore<double>;
extern template class ScaledDotScore<float>;
extern template class ScaledDotScore<double>;
extern template class BilinearScore<float>;
extern template class BilinearScore<double>;
extern template class ConcatScore<float>;
extern template class ConcatScore<double>;
extern template class AdditiveScore<float>;
extern template class AdditiveScore<double>;
extern template class Attention<float>;
extern template class Attention<double>;
extern template class AdditiveAttention<float>;
extern template class AdditiveAttention<double>;

}  // namespace inkling::nn

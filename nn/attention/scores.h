// Scoring functions f(Q, K), which rate how well each query matches each key, and Attention, a head with any score:
// softmax over the valid keys, dropout, average of the values.
//   Attention<float> attention(std::make_unique<BilinearScore<float>>(random, 16, 24), 0.1);
//   auto [y, weights] = attention.forward(queries, keys, values, valid_lens, &random);
#pragma once

#include <cmath>
#include <memory>

#include "engine/ops/elementwise/unary.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/shape/shape.h"
#include "nn/attention/masks.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace inkling::nn {

// q k^T / sqrt(d): q (..., Lq, d), k (..., Lk, d) -> (..., Lq, Lk).
template <class T>
Tensor<T> scaled_scores(const Tensor<T>& q, const Tensor<T>& k) {
    return scale(matmul(q, transpose(k, -2, -1)), 1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
}

template <class T>
class Score : public Module<T> {
  public:
    // Q (B, Lq, dq), K (B, Lk, dk) -> (B, Lq, Lk)
    virtual Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const = 0;
    void visit(const Visitor<T>&) override {}

  protected:
    static void check_pair(const char* name, const Tensor<T>& Q, const Tensor<T>& K, std::size_t dq, std::size_t dk) {
        check(Q.rank() == 3 && K.rank() == 3 && Q.dim(0) == K.dim(0) && Q.dim(2) == dq && K.dim(2) == dk,
              "{}: expected queries (B, Lq, {}) and keys (B, Lk, {}), got {} and {}", name, dq, dk, Q.shape(),
              K.shape());
    }
    // Uniform in +-1/sqrt(width), the last extent.
    static Tensor<T> initial(const Shape& shape, Generator& random) {
        return parameter<T>(shape, Initial::uniform(1.0 / std::sqrt(static_cast<double>(shape.back()))), random);
    }
};

// Q^T K; widths must be equal.
template <class T>
class DotScore : public Score<T> {
  public:
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override {
        this->check_pair("DotScore", Q, K, Q.dim(-1), Q.dim(-1));
        return matmul(Q, transpose(K, 1, 2));
    }
};

// Q^T K / sqrt(d): the variance is 1 at any width (Vaswani et al. 2017).
template <class T>
class ScaledDotScore : public Score<T> {
  public:
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override {
        this->check_pair("ScaledDotScore", Q, K, Q.dim(-1), Q.dim(-1));
        return scaled_scores(Q, K);
    }
};

// Q^T W K, W (dq, dk) (Luong et al. 2015, "general").
template <class T>
class BilinearScore : public Score<T> {
  public:
    BilinearScore(Generator& random, std::size_t dq, std::size_t dk) : W(this->initial({dq, dk}, random)) {}
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override {
        this->check_pair("BilinearScore", Q, K, W.dim(0), W.dim(1));
        return matmul(matmul(Q, W), transpose(K, 1, 2));  // (B, Lq, dk) (B, dk, Lk)
    }
    void visit(const Visitor<T>& v) override { v("W", W); }

    Tensor<T> W;
};

// w^T [Q; K], w (dq + dk).
template <class T>
class ConcatScore : public Score<T> {
  public:
    ConcatScore(Generator& random, std::size_t dq, std::size_t dk) : w(this->initial({dq + dk}, random)) {}
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override {
        const std::size_t dq = Q.dim(-1), both = w.dim(0);
        check(dq < both, "ConcatScore: expected queries narrower than {}, got {}", both, Q.shape());
        this->check_pair("ConcatScore", Q, K, dq, both - dq);
        // w^T [q; k] is a number per query plus a number per key, so the pairs are never concatenated.
        const Tensor<T> of_query = matmul(Q, reshape(slice(w, 0, 0, dq), {dq, 1}));          // (B, Lq, 1)
        const Tensor<T> of_key = matmul(K, reshape(slice(w, 0, dq, both), {both - dq, 1}));  // (B, Lk, 1)
        return add(of_query, transpose(of_key, 1, 2));
    }
    void visit(const Visitor<T>& v) override { v("w", w); }

    Tensor<T> w;
};

// w_v^T tanh(W_q Q + W_k K) (Bahdanau et al. 2015), without biases.
template <class T>
class AdditiveScore : public Score<T> {
  public:
    AdditiveScore(Generator& random, std::size_t dq, std::size_t dk, std::size_t num_hiddens)
        : W_k(random, dk, num_hiddens, false),
          W_q(random, dq, num_hiddens, false),
          w_v(random, num_hiddens, 1, false) {}
    Tensor<T> forward(const Tensor<T>& Q, const Tensor<T>& K) const override {
        this->check_pair("AdditiveScore", Q, K, W_q.weight.dim(1), W_k.weight.dim(1));
        const std::size_t B = Q.dim(0), Lq = Q.dim(1), Lk = K.dim(1), h = W_q.weight.dim(0);
        const Tensor<T> q = reshape(W_q.forward(Q), {B, Lq, 1, h}), k = reshape(W_k.forward(K), {B, 1, Lk, h});
        return reshape(w_v.forward(tanh(add(q, k))), {B, Lq, Lk});  // (B, Lq, Lk, h) -> (B, Lq, Lk, 1) -> (B, Lq, Lk)
    }
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
    Attention(std::unique_ptr<Score<T>> scoring_function, double dropout_p)
        : score(std::move(scoring_function)), dropout(dropout_p) {
        check(score != nullptr, "Attention: a scoring function is required");
    }

    // Q (B, Lq, dq), K (B, Lk, dk), V (B, Lk, dv) -> output (B, Lq, dv), weights (B, Lq, Lk) before dropout.
    AttentionOutput<T> forward(const Tensor<T>& Q, const Tensor<T>& K, const Tensor<T>& V,
                               const ValidLengths& valid_lens = {}, Generator* random = nullptr) const {
        check(V.rank() == 3 && K.rank() == 3 && V.dim(0) == K.dim(0) && V.dim(1) == K.dim(1),
              "Attention: expected keys (B, Lk, dk) and values (B, Lk, dv), got {} and {}", K.shape(), V.shape());
        const Tensor<T> weights = masked_softmax(score->forward(Q, K), valid_lens);  // (B, Lq, Lk)
        return {matmul(dropout.forward(weights, random), V), weights};
    }
    void visit(const Visitor<T>& v) override {
        v("score", *score);
        v("dropout", dropout);
    }

    std::unique_ptr<Score<T>> score;
    Dropout<T> dropout;
};

// Attention with the additive score, whose parameters are named W_k, W_q, w_v.
template <class T>
class AdditiveAttention : public Attention<T> {
  public:
    AdditiveAttention(Generator& random, std::size_t key_size, std::size_t query_size, std::size_t num_hiddens,
                      double dropout_p)
        : Attention<T>(std::make_unique<AdditiveScore<T>>(random, query_size, key_size, num_hiddens), dropout_p) {}

    void visit(const Visitor<T>& v) override {
        if (v.on_module) v.on_module(v.prefix + "score", *this->score);
        v("dropout", this->dropout);
        this->score->visit(v);
    }
};

}  // namespace inkling::nn

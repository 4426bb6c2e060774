// Scoring functions f(Q, K): how well each query goes with each key. Any of them plugs into Attention (single_head.h).
#pragma once

#include "nn/linear.h"

namespace inkling::nn {

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

// Q^T K / sqrt(d): the variance stays 1 whatever the width (Vaswani et al. 2017).
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

}  // namespace inkling::nn

// Attention with one head and any scoring function: softmax over the valid keys, dropout, average of the values.
//   Attention<float> attention(std::make_unique<BilinearScore<float>>(random, 16, 24), 0.1);
//   auto [y, weights] = attention.forward(queries, keys, values, valid_lens, &random);
#pragma once

#include <memory>

#include "nn/attention/attention_output.h"
#include "nn/attention/masks.h"
#include "nn/attention/scores.h"
#include "nn/dropout.h"

namespace inkling::nn {

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

// The additive score with names of its own: W_k, W_q, w_v.
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

extern template class Attention<float>;
extern template class Attention<double>;
extern template class AdditiveAttention<float>;
extern template class AdditiveAttention<double>;

}  // namespace inkling::nn

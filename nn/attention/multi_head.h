// Multi-head attention: several heads side by side, each on its own slice of the width, mixed by a last projection.
//   MultiHeadAttention<float> attention(random, 128, 128, 64, 0.0, 4);
//   auto [y, weights] = attention.forward(x);                 // self-attention, causal
//   auto [z, w] = attention.forward(query, key, value, mask);  // cross attention
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nn/attention/self_attention.h"

namespace inkling::nn {

// (B, L, H d) -> (B, H, L, d) and back. Both are views if the strides allow it.
template <class T>
Tensor<T> split_heads(const Tensor<T>& x, std::size_t heads);
template <class T>
Tensor<T> merge_heads(const Tensor<T>& x);

template <class T>
class MultiHeadAttention : public Module<T> {
  public:
    // Separate projections W_query, W_key, W_value (d_out, d_in) and out_proj (d_out, d_out), which has a bias.
    MultiHeadAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                       double dropout, std::size_t num_heads, bool qkv_bias = false);

    // GPT-2's form: one projection c_attn (3 width, width) makes query, key and value at once, c_proj mixes the heads.
    struct Packed {
        std::size_t width, context_length, num_heads;
        double dropout;
        bool bias = true;
    };
    MultiHeadAttention(Generator& random, const Packed& packed);

    // Causal self-attention: x (B, L, d_in), L <= context_length -> (B, L, d_out). In training, dropout takes a key of
    // `random`.
    AttentionOutput<T> forward(const Tensor<T>& x, NeedWeights wanted = NeedWeights::yes,
                               Generator* random = nullptr) const;
    // query (B, Lq, d_in), key and value (B, Lk, d_in); the mask broadcasts to (B, H, Lq, Lk), 0 = blocked.
    AttentionOutput<T> forward(const Tensor<T>& query, const Tensor<T>& key, const Tensor<T>& value,
                               const MaskArray& mask = {}, NeedWeights wanted = NeedWeights::yes,
                               Generator* random = nullptr) const;

    void visit(const Visitor<T>& v) override;

    std::size_t heads, context;
    double dropout;
    Masked masked = Masked::error;  // result for a fully masked query
    std::optional<Linear<T>> W_query, W_key, W_value, c_attn;
    Linear<T> out_proj;

  private:
    AttentionOutput<T> attend(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, AttentionOptions options,
                              NeedWeights wanted, Generator* random) const;
};

// The simple form: runs several causal heads one after the other and concatenates their outputs.
template <class T>
class MultiHeadAttentionWrapper : public Module<T> {
  public:
    // Heads of width d_out each; with `final_linear`, out_proj (with bias) mixes their outputs.
    MultiHeadAttentionWrapper(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                              double dropout, std::size_t num_heads, bool qkv_bias = false, bool final_linear = false);

    // x (B, L, d_in) -> output (B, L, num_heads * d_out), weights (B, num_heads, L, L).
    AttentionOutput<T> forward(const Tensor<T>& x, Generator* random = nullptr) const;
    void visit(const Visitor<T>& v) override;

    std::vector<std::unique_ptr<CausalAttention<T>>> heads;
    std::optional<Linear<T>> out_proj;
};

extern template class MultiHeadAttention<float>;
extern template class MultiHeadAttention<double>;
extern template class MultiHeadAttentionWrapper<float>;
extern template class MultiHeadAttentionWrapper<double>;

}  // namespace inkling::nn

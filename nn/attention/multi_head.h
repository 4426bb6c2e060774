// Multi-head attention: several heads side by side, each on its own slice of the width, mixed by a last projection.
//   MultiHeadAttention<float> attention(random, 128, 128, 64, 0.0, 4);
//   auto [y, weights] = attention.forward(x);                 // self-attention, causal
//   auto [z, w] = attention.forward(query, key, value, mask);  // cross attention
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/fused/split.h"
#include "engine/ops/shape/shape.h"
#include "nn/attention/self_attention.h"

namespace inkling::nn {

// (B, L, H d) -> (B, H, L, d) and back. Both are views if the strides allow it.
template <class T>
Tensor<T> split_heads(const Tensor<T>& x, std::size_t heads) {
    const std::size_t B = x.dim(0), L = x.dim(1), C = x.dim(2);
    return transpose(reshape(x, {B, L, heads, C / heads}), 1, 2);
}
template <class T>
Tensor<T> merge_heads(const Tensor<T>& x) {
    const std::size_t B = x.dim(0), H = x.dim(1), L = x.dim(2), d = x.dim(3);
    return reshape(transpose(x, 1, 2), {B, L, H * d});
}

template <class T>
class MultiHeadAttention : public Module<T> {
  public:
    // Separate projections W_query, W_key, W_value (d_out, d_in) and out_proj (d_out, d_out), which has a bias.
    MultiHeadAttention(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                       double dropout_p, std::size_t num_heads, bool qkv_bias = false)
        : heads(num_heads),
          context(context_length),
          dropout(dropout_p),
          W_query(Linear<T>(random, d_in, d_out, qkv_bias)),
          W_key(Linear<T>(random, d_in, d_out, qkv_bias)),
          W_value(Linear<T>(random, d_in, d_out, qkv_bias)),
          out_proj(random, d_out, d_out) {
        check_options(d_out);
    }

    // GPT-2's form: one projection c_attn (3 width, width) makes query, key and value at once, c_proj mixes the heads.
    struct Packed {
        std::size_t width, context_length, num_heads;
        double dropout;
        bool bias = true;
    };
    MultiHeadAttention(Generator& random, const Packed& p)
        : heads(p.num_heads),
          context(p.context_length),
          dropout(p.dropout),
          c_attn(Linear<T>(random, p.width, 3 * p.width, p.bias)),
          out_proj(random, p.width, p.width, p.bias) {
        check_options(p.width);
    }

    // Causal self-attention: x (B, L, d_in), L <= context_length -> (B, L, d_out). In training, dropout takes a key of
    // `random`.
    AttentionOutput<T> forward(const Tensor<T>& x, NeedWeights wanted = NeedWeights::yes,
                               Generator* random = nullptr) const {
        check(x.rank() == 3 && x.dim(1) <= context,
              "MultiHeadAttention: expected x (B, L, C) with L of at most {}, got shape {}", context, x.shape());
        AttentionOptions options;
        options.causal = true;
        if (!c_attn)
            return attend(W_query->forward(x), W_key->forward(x), W_value->forward(x), options, wanted, random);
        const auto qkv = split(c_attn->forward(x), 3, -1);  // (B, L, 3C) -> 3 of (B, L, C)
        return attend(qkv[0], qkv[1], qkv[2], options, wanted, random);
    }
    // query (B, Lq, d_in), key and value (B, Lk, d_in); the mask broadcasts to (B, H, Lq, Lk), 0 = blocked.
    AttentionOutput<T> forward(const Tensor<T>& query, const Tensor<T>& key, const Tensor<T>& value,
                               const MaskArray& mask = {}, NeedWeights wanted = NeedWeights::yes,
                               Generator* random = nullptr) const {
        check(W_query.has_value(),
              "MultiHeadAttention: cross attention needs separate projections, not a packed one, got {}, {} and {}",
              query.shape(), key.shape(), value.shape());
        check(query.rank() == 3 && key.rank() == 3 && value.rank() == 3 && query.dim(0) == key.dim(0) &&
                  key.dim(0) == value.dim(0) && key.dim(1) == value.dim(1),
              "MultiHeadAttention: expected query (B, Lq, d), key and value (B, Lk, d), got {}, {} and {}",
              query.shape(), key.shape(), value.shape());
        AttentionOptions options;
        options.mask = mask;
        return attend(W_query->forward(query), W_key->forward(key), W_value->forward(value), options, wanted, random);
    }

    void visit(const Visitor<T>& v) override {
        if (c_attn) {
            v("c_attn", *c_attn);
            v("c_proj", out_proj);
        } else {
            v("W_query", *W_query);
            v("W_key", *W_key);
            v("W_value", *W_value);
            v("out_proj", out_proj);
            v.buffer("mask");
        }
    }

    std::size_t heads, context;
    double dropout;
    Masked masked = Masked::error;  // result for a fully masked query
    std::optional<Linear<T>> W_query, W_key, W_value, c_attn;
    Linear<T> out_proj;

  private:
    void check_options(std::size_t width) const {
        check(heads > 0 && width % heads == 0,
              "MultiHeadAttention: the width must be divisible by the number of heads, got width {} and {} heads",
              width, heads);
        check(dropout >= 0 && dropout < 1, "MultiHeadAttention: expected a dropout of at least 0 and below 1, got {}",
              dropout);
    }
    AttentionOutput<T> attend(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, AttentionOptions options,
                              NeedWeights wanted, Generator* random) const {
        options.masked = masked;
        if (this->training()) options.drop("MultiHeadAttention", dropout, random);
        const auto [y, weights] = scaled_dot_product_attention(split_heads(q, heads), split_heads(k, heads),
                                                               split_heads(v, heads), options, wanted);
        return {out_proj.forward(merge_heads(y)), weights};
    }
};

// The simple form: runs several causal heads one after the other and concatenates their outputs.
template <class T>
class MultiHeadAttentionWrapper : public Module<T> {
  public:
    // Heads of width d_out each; with `final_linear`, out_proj (with bias) mixes their outputs.
    MultiHeadAttentionWrapper(Generator& random, std::size_t d_in, std::size_t d_out, std::size_t context_length,
                              double dropout, std::size_t num_heads, bool qkv_bias = false, bool final_linear = false) {
        check(num_heads > 0, "MultiHeadAttentionWrapper: expected at least one head, got {}", num_heads);
        for (std::size_t h = 0; h < num_heads; ++h)
            heads.emplace_back(random, d_in, d_out, context_length, dropout, qkv_bias);
        if (final_linear) out_proj.emplace(random, num_heads * d_out, num_heads * d_out);
    }

    // x (B, L, d_in) -> output (B, L, num_heads * d_out), weights (B, num_heads, L, L).
    AttentionOutput<T> forward(const Tensor<T>& x, Generator* random = nullptr) const {
        check(x.rank() == 3, "MultiHeadAttentionWrapper: expected x (B, L, d_in), got shape {}", x.shape());
        std::vector<Tensor<T>> outputs, weights;
        for (const auto& head : heads) {
            const AttentionOutput<T> one = head.forward(x, random);
            outputs.push_back(one.output);
            weights.push_back(one.weights);
        }
        const Tensor<T> joined = concatenate(outputs, -1);  // heads of (B, L, d_out) -> (B, L, H d_out)
        return {out_proj ? out_proj->forward(joined) : joined, stack(weights, 1)};
    }
    void visit(const Visitor<T>& v) override {
        for (std::size_t h = 0; h < heads.size(); ++h) v("heads." + std::to_string(h), heads[h]);
        if (out_proj) v("out_proj", *out_proj);
    }

    std::vector<CausalAttention<T>> heads;
    std::optional<Linear<T>> out_proj;
};

}  // namespace inkling::nn

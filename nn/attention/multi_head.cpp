#include "nn/attention/multi_head.h"

#include "engine/ops.h"

namespace inkling::nn {

template <class T>
Tensor<T> split_heads(const Tensor<T>& x, std::size_t heads) {
    const std::size_t B = x.dim(0), L = x.dim(1), C = x.dim(2);
    return transpose(reshape(x, {B, L, heads, C / heads}), 1, 2);  // (B, L, H, d) -> (B, H, L, d)
}

template <class T>
Tensor<T> merge_heads(const Tensor<T>& x) {
    const std::size_t B = x.dim(0), H = x.dim(1), L = x.dim(2), d = x.dim(3);
    return reshape(transpose(x, 1, 2), {B, L, H * d});
}

namespace {

void check_options(std::size_t width, std::size_t heads, double dropout) {
    check(heads > 0 && width % heads == 0,
          "MultiHeadAttention: the width must be divisible by the number of heads, got width {} and {} heads", width,
          heads);
    check(dropout >= 0 && dropout < 1, "MultiHeadAttention: a dropout of at least 0 and below 1 is required, got {}",
          dropout);
}

}  // namespace

template <class T>
MultiHeadAttention<T>::MultiHeadAttention(Generator& random, std::size_t d_in, std::size_t d_out,
                                          std::size_t context_length, double dropout_p, std::size_t num_heads,
                                          bool qkv_bias)
    : heads(num_heads),
      context(context_length),
      dropout(dropout_p),
      W_query(Linear<T>(random, d_in, d_out, qkv_bias)),
      W_key(Linear<T>(random, d_in, d_out, qkv_bias)),
      W_value(Linear<T>(random, d_in, d_out, qkv_bias)),
      out_proj(random, d_out, d_out) {
    check_options(d_out, heads, dropout);
}

template <class T>
MultiHeadAttention<T>::MultiHeadAttention(Generator& random, const Packed& p)
    : heads(p.num_heads),
      context(p.context_length),
      dropout(p.dropout),
      c_attn(Linear<T>(random, p.width, 3 * p.width, p.bias)),
      out_proj(random, p.width, p.width, p.bias) {
    check_options(p.width, heads, dropout);
}

template <class T>
void MultiHeadAttention<T>::visit(const Visitor<T>& v) {
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

template <class T>
AttentionOutput<T> MultiHeadAttention<T>::forward(const Tensor<T>& x, NeedWeights wanted, Generator* random) const {
    check(x.rank() == 3 && x.dim(1) <= context,
          "MultiHeadAttention: x (B, L, C) with L of at most {} is required, got shape {}", context, x.shape());
    AttentionOptions options;
    options.causal = true;
    if (!c_attn) return attend(W_query->forward(x), W_key->forward(x), W_value->forward(x), options, wanted, random);
    const auto qkv = split(c_attn->forward(x), 3, -1);  // (B, L, 3C) -> 3 of (B, L, C)
    return attend(qkv[0], qkv[1], qkv[2], options, wanted, random);
}

template <class T>
AttentionOutput<T> MultiHeadAttention<T>::forward(const Tensor<T>& query, const Tensor<T>& key, const Tensor<T>& value,
                                                  const MaskArray& mask, NeedWeights wanted, Generator* random) const {
    check(W_query.has_value(),
          "MultiHeadAttention: cross attention needs separate projections, not a packed one, got {}, {} and {}",
          query.shape(), key.shape(), value.shape());
    check(query.rank() == 3 && key.rank() == 3 && value.rank() == 3 && query.dim(0) == key.dim(0) &&
              key.dim(0) == value.dim(0) && key.dim(1) == value.dim(1),
          "MultiHeadAttention: query (B, Lq, d), key and value (B, Lk, d) are required, got {}, {} and {}",
          query.shape(), key.shape(), value.shape());
    AttentionOptions options;
    options.mask = mask;
    return attend(W_query->forward(query), W_key->forward(key), W_value->forward(value), options, wanted, random);
}

template <class T>
AttentionOutput<T> MultiHeadAttention<T>::attend(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                                                 AttentionOptions options, NeedWeights wanted,
                                                 Generator* random) const {
    options.masked = masked;
    if (this->training()) options.drop("MultiHeadAttention", dropout, random);
    const auto [y, weights] = scaled_dot_product_attention(split_heads(q, heads), split_heads(k, heads),
                                                           split_heads(v, heads), options, wanted);
    return {out_proj.forward(merge_heads(y)), weights};
}

template <class T>
MultiHeadAttentionWrapper<T>::MultiHeadAttentionWrapper(Generator& random, std::size_t d_in, std::size_t d_out,
                                                        std::size_t context_length, double dropout,
                                                        std::size_t num_heads, bool qkv_bias, bool final_linear) {
    check(num_heads > 0, "MultiHeadAttentionWrapper: at least one head is required, got {}", num_heads);
    for (std::size_t h = 0; h < num_heads; ++h) {
        heads.push_back(std::make_unique<CausalAttention<T>>(random, d_in, d_out, context_length, dropout, qkv_bias));
    }
    if (final_linear) out_proj.emplace(random, num_heads * d_out, num_heads * d_out);
}

template <class T>
AttentionOutput<T> MultiHeadAttentionWrapper<T>::forward(const Tensor<T>& x, Generator* random) const {
    check(x.rank() == 3, "MultiHeadAttentionWrapper: x (B, L, d_in) is required, got shape {}", x.shape());
    std::vector<Tensor<T>> outputs, weights;
    for (const auto& head : heads) {
        const AttentionOutput<T> one = head->forward(x, random);
        outputs.push_back(one.output);
        weights.push_back(one.weights);
    }
    const Tensor<T> joined = concatenate(outputs, -1);  // heads of (B, L, d_out) -> (B, L, H d_out)
    return {out_proj ? out_proj->forward(joined) : joined, stack(weights, 1)};
}

template <class T>
void MultiHeadAttentionWrapper<T>::visit(const Visitor<T>& v) {
    for (std::size_t h = 0; h < heads.size(); ++h) v("heads." + std::to_string(h), *heads[h]);
    if (out_proj) v("out_proj", *out_proj);
}

#define INKLING_INSTANTIATE(T)                                     \
    template Tensor<T> split_heads(const Tensor<T>&, std::size_t); \
    template Tensor<T> merge_heads(const Tensor<T>&);              \
    template class MultiHeadAttention<T>;                          \
    template class MultiHeadAttentionWrapper<T>;
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn

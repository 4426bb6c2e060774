#include "nn/attention/grouped_query.h"

#include "engine/ops.h"
#include "nn/attention/multi_head.h"

namespace inkling::nn {
namespace {

const GroupedQueryShape& checked(const GroupedQueryShape& s) {
    check(s.heads > 0 && s.kv_heads > 0 && s.width % (2 * s.heads) == 0 && s.heads % s.kv_heads == 0,
          "GroupedQueryAttention: heads of even width that share key and value heads evenly are required, got width "
          "{}, {} heads and {} key and value heads",
          s.width, s.heads, s.kv_heads);
    check(s.dropout >= 0 && s.dropout < 1,
          "GroupedQueryAttention: a dropout of at least 0 and below 1 is required, got {}", s.dropout);
    return s;
}

std::size_t kv_width(const GroupedQueryShape& s) { return s.width / s.heads * s.kv_heads; }

}  // namespace

template <class T>
GroupedQueryAttention<T>::GroupedQueryAttention(Generator& random, const GroupedQueryShape& s)
    : shape(checked(s)),
      q_proj(random, s.width, s.width, s.bias),
      k_proj(random, s.width, kv_width(s), s.bias),
      v_proj(random, s.width, kv_width(s), s.bias),
      o_proj(random, s.width, s.width, s.bias) {}

template <class T>
Tensor<T> GroupedQueryAttention<T>::turned_and_normed(const Tensor<T>& heads, const ConstArray<T>& angles) const {
    return rms_norm(rotate(heads, angles), {}, shape.eps);
}

template <class T>
AttentionOutput<T> GroupedQueryAttention<T>::forward(const Tensor<T>& x, NeedWeights wanted, Generator* random) const {
    check(x.rank() == 3 && x.dim(1) <= shape.context_length,
          "GroupedQueryAttention: x (B, L, C) with L of at most {} is required, got shape {}", shape.context_length,
          x.shape());
    AttentionOptions options;
    options.causal = true;
    if (this->training()) options.drop("GroupedQueryAttention", shape.dropout, random);
    const ConstArray<T> angles =
        rotary_table<T>(rotary_rates(shape.width / shape.heads, shape.rope_theta), 0, x.dim(1), true);
    const Tensor<T> q = turned_and_normed(split_heads(q_proj.forward(x), shape.heads), angles);
    const Tensor<T> k = turned_and_normed(split_heads(k_proj.forward(x), shape.kv_heads), angles);
    const Tensor<T> v = split_heads(v_proj.forward(x), shape.kv_heads);
    const auto [y, weights] = scaled_dot_product_attention(q, k, v, options, wanted);
    return {o_proj.forward(merge_heads(y)), weights};
}

template class GroupedQueryAttention<float>;
template class GroupedQueryAttention<double>;

}  // namespace inkling::nn

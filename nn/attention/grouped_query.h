// Grouped-query attention (Ainslie et al. 2023) in nanochat's form: several query heads share a head of keys and
// values, positions are rotary, and queries and keys are normed once they are turned.
//   GroupedQueryAttention<float> attention(random, {.width = 128, .context_length = 64, .heads = 4, .kv_heads = 2});
//   auto [y, weights] = attention.forward(x);   // causal
#pragma once

#include "nn/attention/scaled_dot_product.h"
#include "nn/linear.h"

namespace inkling::nn {

struct GroupedQueryShape {
    std::size_t width, context_length, heads, kv_heads;  // width / heads is even; heads a multiple of kv_heads
    double dropout = 0;                                  // of the weights
    bool bias = false;
    double rope_theta = 10000;
    double eps = 1e-6;  // of the norms
};

template <class T>
class GroupedQueryAttention : public Module<T> {
  public:
    GroupedQueryAttention(Generator& random, const GroupedQueryShape& shape);

    // x (B, L, width), L <= context_length -> output (B, L, width) and, when wanted, weights (B, heads, L, L).
    AttentionOutput<T> forward(const Tensor<T>& x, NeedWeights wanted = NeedWeights::yes,
                               Generator* random = nullptr) const;
    void visit(const Visitor<T>& v) override {
        v("q_proj", q_proj);
        v("k_proj", k_proj);
        v("v_proj", v_proj);
        v("o_proj", o_proj);
    }

    GroupedQueryShape shape;
    Linear<T> q_proj, k_proj, v_proj, o_proj;

  private:
    // (B, H, L, d) -> the same, by the angles of L positions
    Tensor<T> turned_and_normed(const Tensor<T>& heads, const ConstArray<T>& angles) const;
};

extern template class GroupedQueryAttention<float>;
extern template class GroupedQueryAttention<double>;

}  // namespace inkling::nn

// Multi-head attention the simple way: several causal heads, one after the other, their outputs side by side.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nn/attention/causal.h"

namespace inkling::nn {

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

extern template class MultiHeadAttentionWrapper<float>;
extern template class MultiHeadAttentionWrapper<double>;

}  // namespace inkling::nn

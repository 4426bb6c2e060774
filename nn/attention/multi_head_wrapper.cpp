#include "nn/attention/multi_head_wrapper.h"

#include "engine/ops/shape.h"

namespace inkling::nn {

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

template class MultiHeadAttentionWrapper<float>;
template class MultiHeadAttentionWrapper<double>;

}  // namespace inkling::nn

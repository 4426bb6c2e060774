#include "nn/attention/scaled_dot_product.h"

#include <cmath>

#include "engine/ops.h"
#include "nn/attention/masks.h"

namespace inkling::nn {

template <class T>
AttentionOutput<T> scaled_dot_product_attention(const Tensor<T>& q, const Tensor<T>& k_in, const Tensor<T>& v_in,
                                                const AttentionOptions& options, NeedWeights wanted) {
    check(q.rank() == 4 && k_in.rank() == 4 && v_in.rank() == 4 && q.dim(0) == k_in.dim(0) &&
              k_in.dim(0) == v_in.dim(0) && k_in.dim(1) == v_in.dim(1) && q.dim(3) == k_in.dim(3) &&
              k_in.dim(2) == v_in.dim(2),
          "scaled_dot_product_attention: q (B, H, Lq, d), k (B, K, Lk, d) and v (B, K, Lk, dv) are required, got {}, "
          "{} and {}",
          q.shape(), k_in.shape(), v_in.shape());
    const std::size_t H = q.dim(1), K = k_in.dim(1);
    check(H == K || (K > 0 && H > 0 && H % K == 0),
          "scaled_dot_product_attention: heads of queries that share those of keys and values evenly are required, got "
          "{} for {}: {}, {} and {}",
          H, K, q.shape(), k_in.shape(), v_in.shape());
    if (wanted == NeedWeights::no) return {attention(q, k_in, v_in, options), {}};
    const Tensor<T> k = H == K ? k_in : repeat(k_in, H / K, 1), v = H == K ? v_in : repeat(v_in, H / K, 1);
    const double factor = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
    Tensor<T> scores = scale(matmul(q, transpose(k, -2, -1)), factor);  // (B, H, Lq, Lk)
    if (!options.alibi.empty()) {
        check(options.alibi.size() == q.dim(1),
              "scaled_dot_product_attention: one ALiBi slope a head is required, got {} for q {}", options.alibi.size(),
              q.shape());
        scores = add(scores, Tensor<T>(alibi_bias<T>(options.alibi, q.dim(-2), k.dim(-2))));
    }
    MaskArray allowed = options.mask;
    if (options.causal) {
        const MaskArray past = look_ahead_mask(q.dim(-2), k.dim(-2));
        allowed = allowed.defined() ? MaskArray(allowed && past) : past;
    }
    if (options.documents.begins.defined()) {
        check(options.causal && !options.mask.defined(),
              "scaled_dot_product_attention: where documents begin is for causal attention without a mask");
        allowed = document_mask(options.documents.begins);
    }
    if (options.window) {
        check(options.causal, "scaled_dot_product_attention: a window is for causal attention, got {}", options.window);
        allowed = MaskArray(allowed && window_mask(q.dim(-2), k.dim(-2), options.window));
    }
    const Tensor<T> weights = softmax(scores, allowed, options.masked, "scaled_dot_product_attention");
    return {matmul(dropout(weights, options.dropout, options.dropout_key), v), weights};
}

template AttentionOutput<float> scaled_dot_product_attention(const Tensor<float>&, const Tensor<float>&,
                                                             const Tensor<float>&, const AttentionOptions&,
                                                             NeedWeights);
template AttentionOutput<double> scaled_dot_product_attention(const Tensor<double>&, const Tensor<double>&,
                                                              const Tensor<double>&, const AttentionOptions&,
                                                              NeedWeights);

}  // namespace inkling::nn

#include "nn/attention/scaled_dot_product.h"

#include <cmath>

#include "engine/ops.h"
#include "nn/attention/alibi.h"
#include "nn/attention/masks.h"

namespace inkling::nn {

void AttentionOptions::drop(const char* layer, double probability, Generator* random) {
    if (probability == 0) return;
    check(random, "{}: training with dropout needs random numbers: pass a Generator, or call eval()", layer);
    dropout = probability;
    dropout_key = random->next();
}

template <class T>
AttentionOutput<T> scaled_dot_product_attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                                                const AttentionOptions& options, Weights wanted) {
    check(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) &&
              q.dim(1) == k.dim(1) && k.dim(1) == v.dim(1) && q.dim(3) == k.dim(3) && k.dim(2) == v.dim(2),
          "scaled_dot_product_attention: q (B, H, Lq, d), k (B, H, Lk, d) and v (B, H, Lk, dv) are required, got {}, "
          "{} and {}",
          q.shape(), k.shape(), v.shape());
    const double factor = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
    if (wanted == Weights::none) {
        return {attention(q, k, v,
                          {.scale = factor,
                           .causal = options.causal,
                           .mask = options.mask,
                           .dropout = options.dropout,
                           .dropout_key = options.dropout_key,
                           .alibi = options.alibi,
                           .masked = options.masked,
                           .begins = options.begins}),
                {}};
    }
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
    if (options.begins.defined()) {
        check(options.causal && !options.mask.defined(),
              "scaled_dot_product_attention: where documents begin is for causal attention without a mask");
        allowed = document_mask(options.begins);
    }
    const Tensor<T> weights = softmax(scores, allowed, options.masked, "scaled_dot_product_attention");
    return {matmul(dropout(weights, options.dropout, options.dropout_key), v), weights};
}

template AttentionOutput<float> scaled_dot_product_attention(const Tensor<float>&, const Tensor<float>&,
                                                             const Tensor<float>&, const AttentionOptions&, Weights);
template AttentionOutput<double> scaled_dot_product_attention(const Tensor<double>&, const Tensor<double>&,
                                                              const Tensor<double>&, const AttentionOptions&, Weights);

}  // namespace inkling::nn

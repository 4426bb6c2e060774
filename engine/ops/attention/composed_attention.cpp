#include "engine/ops/attention/composed_attention.h"

#include <cmath>

#include "engine/ops/elementwise/binary.h"
#include "engine/ops/elementwise/dropout.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/unary.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/reduce/softmax.h"
#include "engine/ops/shape/repeat.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

MaskArray look_ahead_mask(std::size_t queries, std::size_t keys) {
    MaskArray mask = causal_mask(queries, keys);  // true where blocked
    for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = !mask.data()[i];
    return mask.reshaped({1, 1, queries, keys});
}

MaskArray window_mask(std::size_t queries, std::size_t keys, std::size_t window) {
    MaskArray mask({queries, keys});
    for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t j = 0; j < keys; ++j) {
            const std::size_t here = i + keys - queries;
            mask(i, j) = j <= here && here - j < window;
        }
    return mask;
}

MaskArray document_mask(const IdArray& begins) {
    check(begins.rank() == 2, "document_mask: begins (B, L) is required, got {}", begins.shape());
    const std::size_t B = begins.dim(0), L = begins.dim(1);
    MaskArray mask({B, 1, L, L}, 0);
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t i = 0; i < L; ++i)
            for (auto j = static_cast<std::size_t>(begins(b, i)); j <= i; ++j) mask(b, 0, i, j) = 1;
    return mask;
}

template <class T>
Array<T> alibi_bias(const std::vector<double>& slopes, std::size_t queries, std::size_t keys) {
    check(queries <= keys, "alibi_bias: a query must have a key of its own, got {} queries for {} keys", queries, keys);
    Array<T> bias({1, slopes.size(), queries, keys});
    T* out = bias.data();
    for (std::size_t h = 0; h < slopes.size(); ++h) {
        for (std::size_t i = 0; i < queries; ++i) {
            for (std::size_t j = 0; j < keys; ++j) {
                const double distance = static_cast<double>(i + keys - queries) - static_cast<double>(j);
                *out++ = static_cast<T>(-slopes[h] * distance);
            }
        }
    }
    return bias;
}

template <class T>
AttentionOutput<T> composed_attention(const Tensor<T>& q, const Tensor<T>& k_in, const Tensor<T>& v_in,
                                      const AttentionOptions& options) {
    const std::size_t shared = k_in.dim(1) > 0 ? q.dim(1) / k_in.dim(1) : 1;
    const Tensor<T> k = shared == 1 ? k_in : repeat(k_in, shared, 1), v = shared == 1 ? v_in : repeat(v_in, shared, 1);
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

#define INKLING_INSTANTIATE(T)                                                                           \
    template Array<T> alibi_bias(const std::vector<double>&, std::size_t, std::size_t);                  \
    template AttentionOutput<T> composed_attention(const Tensor<T>&, const Tensor<T>&, const Tensor<T>&, \
                                                   const AttentionOptions&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling

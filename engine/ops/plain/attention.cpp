//   attention   Y = P V,  P = softmax(S),  S = scale Q K^T, and -inf where a query may not look
// By the rules of matmul and softmax:
//   dV = P^T dY    dP = dY V^T    dS_i = P_i (dP_i - P_i . dP_i)    dQ = scale dS K    dK = scale dS^T Q
#include "engine/ops/plain/attention.h"

#include <cmath>

#include "engine/base/both_types.h"
#include "engine/ops/elementwise/dropout.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/matrix/matmul.h"
#include "engine/ops/shape/shape.h"

namespace inkling::plain {
namespace {

// The keys that a query may see, by all options together; undefined: all keys.
MaskArray allowed_keys(const AttentionOptions& options, std::size_t queries, std::size_t keys) {
    MaskArray allowed = options.mask;
    if (options.causal) {
        const MaskArray past = look_ahead_mask(queries, keys);
        allowed = allowed.defined() ? MaskArray(allowed && past) : past;
    }
    if (options.documents.begins.defined()) {
        check(options.causal && !options.mask.defined(),
              "scaled_dot_product_attention: where documents begin is for causal attention without a mask");
        allowed = document_mask(options.documents.begins);
    }
    if (options.window) {
        check(options.causal, "scaled_dot_product_attention: a window is for causal attention, got {}", options.window);
        allowed = MaskArray(allowed && window_mask(queries, keys, options.window));
    }
    return allowed;
}

}  // namespace

template <class T>
AttentionOutput<T> attention(const Tensor<T>& q, const Tensor<T>& k_in, const Tensor<T>& v_in,
                             const AttentionOptions& options) {
    const std::size_t shared = k_in.dim(1) > 0 ? q.dim(1) / k_in.dim(1) : 1;
    const Tensor<T> k = repeat(k_in, shared, 1), v = repeat(v_in, shared, 1);
    const double factor = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.dim(-1))));
    Tensor<T> scores = matmul(q, transpose(k, -2, -1)) * factor;  // (B, H, Lq, Lk)
    if (!options.alibi.empty()) {
        check(options.alibi.size() == q.dim(1),
              "scaled_dot_product_attention: expected one ALiBi slope a head, got {} for q {}", options.alibi.size(),
              q.shape());
        scores = scores + alibi_bias<T>(options.alibi, q.dim(-2), k.dim(-2));
    }
    const MaskArray allowed = allowed_keys(options, q.dim(-2), k.dim(-2));
    const Tensor<T> weights = softmax(scores, allowed, options.masked, "scaled_dot_product_attention");
    return {matmul(dropout(weights, options.dropout, options.dropout_key), v), weights};
}

INKLING_BOTH_TYPES(attention<T>);

}  // namespace inkling::plain

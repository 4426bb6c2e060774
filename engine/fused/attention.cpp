// For each head, in blocks of query rows (after Dao et al. 2022, FlashAttention):
//   forward    S = scale Q K^T    P = e^(S - m)    l = sum_j P_j    Y = P V / l
//              keys come in blocks, too, with a running maximum m: when it grows, l and Y shrink by e^(m_old - m)
//   backward   from lse = m + ln l:  P = e^(S - lse)    D_i = dY_i . Y_i
//              the exponential applies the scale, e^(scale (Q K^T - m)), so m and lse are stored without it
//              dV = P^T dY    dP = dY V^T    dS = P (dP - D) scale    dQ = dS K    dK = dS^T Q
//              for each block of keys in turn, over all queries
// With dropout, P is masked before its product with V, and dP after its own; D is the same. Keys above the diagonal are
// never read, and blocks of keys before the window of all queries of a block are skipped.
// A thread works on whole heads, in backward on all heads that share a key head, so every sum has one order.
// In bfloat16 q, k, v are saved rounded. The CPU's own products of bfloat16 also round dY, P and dS; on other CPUs
// these stay float32.
#include "engine/fused/attention.h"

#include <cmath>

#include "engine/array/axes.h"
#include "engine/array/bfloat16.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/base/parallel.h"
#include "engine/base/precision.h"
#include "engine/base/profile.h"
#include "engine/fused/attention_heads.h"
#include "engine/ops/plain/attention.h"

namespace inkling {
namespace {

// The rows of a head from `begin` on.
template <class E>
HeadMatrix<E> from(const HeadMatrix<E>& x, std::size_t begin) {
    return {x.at(begin), x.row};
}

// Makes the elements of a row adjacent, with a separate row for each position: no row may be broadcast.
template <class T>
ConstArray<T> with_dense_rows(const ConstArray<T>& x) {
    const bool dense = x.strides()[3] == 1 || x.dim(3) == 1, broadcast = x.strides()[2] == 0 && x.dim(2) > 1;
    return dense && !broadcast ? x : ConstArray<T>(x.clone());
}

// The array for the gradient of input i, of the given shape, with dense rows.
template <class T>
Array<T> gradient_rows(Gradients<T>& grads, std::size_t i, const Shape& shape) {
    Array<T> place = grads.wanted(i) ? grads.empty(i) : Array<T>(shape);
    if (place.strides()[3] == 1 || place.dim(3) == 1) return place;
    return Array<T>(shape);
}

template <class Operands, class T>
Tensor<T> run(const AttentionShape<T>& shape, const std::array<ConstArray<T>, 3>& given, OpInputs<T> nodes) {
    using E = typename Operands::Element;
    using Kept = typename Operands::Kept;
    constexpr std::size_t pack = Operands::kPack;
    const std::size_t B = shape.B, H = shape.H, K = shape.K, G = shape.group(), Lq = shape.Lq, Lk = shape.Lk,
                      d = shape.d, dv = shape.dv;
    const double product_flops = 2.0 * static_cast<double>(B * H) * shape.seen_pairs();  // per unit of depth
    profile::count_flops(product_flops * static_cast<double>(d + dv));
    const auto heads_side_by_side = [=] { return Array<T>({B, Lq, H, dv}).transposed(1, 2); };  // y's layout
    const auto right = [](const auto& x, std::size_t n, std::size_t width, ScratchPieces<E>& pieces) {
        return Operands::right(x, n, width, pieces.take((n + 1) / pack * width));
    };
    const auto transpose = [](const HeadMatrix<const E>& x, std::size_t n, std::size_t width, T* to) {
        transpose_into(x.data, x.row, n, width / pack, reinterpret_cast<E*>(to), whole_vectors<T>(n));
    };
    const Kept q = Operands::kept(given[0]), k = Operands::kept(given[1]), v = Operands::kept(given[2]);
    Array<T> y = heads_side_by_side(), lse({B * H, Lq});
    const std::size_t work = Lq * Lk * (d + dv);
    parallel_rows(B * H, work, [&](std::size_t begin, std::size_t end) {
        const Scratch<T> scratch(shape, false);
        for (std::size_t i = begin, next; i < end; i = next) {  // up to the last head that shares the keys of head i
            next = std::min(end, (i / G + 1) * G);
            const std::size_t b = i / H, shared = i % H / G;
            shape.for_documents(b, [&](const AttentionShape<T>& part, std::size_t at) {
                ScratchPieces<E> pieces(scratch.operands);
                transpose(from(head_of<const E>(k, b, shared), at), part.Lk, d, scratch.kt);
                const auto values = right(from(head_of<const E>(v, b, shared), at), part.Lk, dv, pieces);
                for (std::size_t h = i % H; h < i % H + next - i; ++h) {
                    forward_head<Operands>(part, b, h, from(head_of<const E>(q, b, h), at), values,
                                           from(head_of<const T>(given[2], b, shared), at),
                                           from(head_of<T>(y, b, h), at), lse.data() + (b * H + h) * Lq + at, scratch,
                                           pieces);
                }
            });
        }
    });
    const Kept y_kept = Operands::kept(y);
    auto gradient = [=, q = Saved(q), k = Saved(k), v = Saved(v)](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] {
            return plain::attention(grads.in(0, Operands::full(*q)), grads.in(1, Operands::full(*k)),
                                    grads.in(2, Operands::full(*v)), shape.options)
                .output;
        });
    };
    const Tensor<T> result = record(
        "attention", y, std::move(nodes), std::move(gradient),
        [=, q = Saved(q), k = Saved(k), v = Saved(v), y = Saved(y_kept)](const Array<T>& dy_any, Gradients<T>& grads) {
            profile::count_flops(product_flops * static_cast<double>(3 * d + 2 * dv));
            const ConstArray<T> dy = with_dense_rows<T>(dy_any);
            const auto &q_kept = *q, &k_kept = *k, &v_kept = *v, &y_of = *y;
            Array<T> dq = gradient_rows(grads, 0, {B, H, Lq, d}), dk = gradient_rows(grads, 1, {B, K, Lk, d});
            Array<T> dvalue = gradient_rows(grads, 2, {B, K, Lk, dv});
            parallel_rows(B * K, work * G, [&](std::size_t begin, std::size_t end) {
                const Scratch<T> scratch(shape, true);
                for (std::size_t i = begin; i < end; ++i) {
                    const std::size_t b = i / K, shared = i % K;
                    shape.for_documents(b, [&](const AttentionShape<T>& part, std::size_t at) {
                        ScratchPieces<E> pieces(scratch.operands);
                        const auto keys = from(head_of<const E>(k_kept, b, shared), at);
                        const auto k2 = right(keys, part.Lk, d, pieces);
                        transpose(keys, part.Lk, d, scratch.kt);
                        transpose(from(head_of<const E>(v_kept, b, shared), at), part.Lk, dv, scratch.vt);
                        const auto one = [&](std::size_t g, const HeadMatrix<T>& dk_part,
                                             const HeadMatrix<T>& dv_part) {
                            const std::size_t h = shared * G + g;
                            backward_head<Operands>(part, b, h, from(head_of<const E>(q_kept, b, h), at), k2,
                                                    from(head_of<const E>(y_of, b, h), at),
                                                    from(head_of<const T>(dy, b, h), at),
                                                    lse.data() + (b * H + h) * Lq + at, from(head_of<T>(dq, b, h), at),
                                                    dk_part, dv_part, scratch, pieces);
                        };
                        sum_group(part, 0, 1, from(head_of<T>(dk, b, shared), at),
                                  from(head_of<T>(dvalue, b, shared), at), scratch.sums, one);
                    });
                }
            });
            grads.add(0, std::move(dq));
            grads.add(1, std::move(dk));
            grads.add(2, std::move(dvalue));
        });
    set_gradient_layout(result, heads_side_by_side);
    can_recompute(result, [y_kept] { return Operands::full(y_kept); });
    return result;
}

}  // namespace

template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const AttentionOptions& options) {
    check_defined("attention", q, k, v);
    check(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && q.dim(3) == k.dim(3) &&
              v.dim(0) == k.dim(0) && v.dim(1) == k.dim(1) && v.dim(2) == k.dim(2) && k.dim(2) > 0,
          "attention: expected q (B, H, Lq, d), k (B, K, Lk, d) and v (B, K, Lk, dv), got {}, {} and {}", q.shape(),
          k.shape(), v.shape());
    const std::size_t B = q.dim(0), H = q.dim(1), K = k.dim(1), Lq = q.dim(2), Lk = k.dim(2);
    check(H == K || (K > 0 && H > 0 && H % K == 0),
          "attention: expected query heads to be a multiple of key and value heads, got {} for {}: {}, {} "
          "and {}",
          H, K, q.shape(), k.shape(), v.shape());
    check((!options.causal && options.alibi.empty()) || Lq <= Lk,
          "attention: causal queries and those with ALiBi must have a key of their own, got {} queries for {} keys", Lq,
          Lk);
    check(options.alibi.empty() || options.alibi.size() == H,
          "attention: expected one ALiBi slope a head, got {} for q {}", options.alibi.size(), q.shape());
    check(options.dropout >= 0 && options.dropout < 1,
          "attention: expected a dropout of at least 0 and below 1, got {}", options.dropout);
    check(options.causal || options.window == 0, "attention: a window is for causal attention, got {}", options.window);
    const IdArray& begins = options.documents.begins;
    check(
        !begins.defined() || (options.causal && !options.mask.defined() && Lq == Lk && begins.shape() == Shape{B, Lq}),
        "attention: where documents begin (B, L) is for causal attention of q (B, H, L, d) and k (B, K, L, d) "
        "without a mask, got {} for {} and {}",
        begins.shape(), q.shape(), k.shape());
    const double scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.dim(3))));
    AttentionShape<T> shape{B, H, K, Lq, Lk, q.dim(3), v.dim(3), options, static_cast<T>(scale), {}};
    // The caller may write to its own before backward.
    if (begins.defined()) shape.options.documents.begins = begins.clone();
    if (options.mask.defined()) {
        const Shape scores{B, H, Lq, Lk};
        check(broadcasts_to(options.mask.shape(), scores),
              "attention: the mask must broadcast to the scores {}, got {}", scores, options.mask.shape());
        shape.options.mask = options.mask.clone();
        shape.mask = shape.options.mask.broadcasted(scores);
    }
    std::array<ConstArray<T>, 3> qkv{with_dense_rows(q.value()), with_dense_rows(k.value()),
                                     with_dense_rows(v.value())};
    if constexpr (std::is_same_v<T, float>) {
        if (product_precision() == Precision::bf16) {
#ifdef __AVX512BF16__
            if (has_bf16_products() && shape.d % 2 == 0 && shape.dv % 2 == 0)
                return run<PairOperands>(shape, qkv, inputs(q, k, v));
#endif
            for (ConstArray<T>& x : qkv) x = widen(round_to_bfloat16(x));
        }
    }
    return run<FloatOperands<T>>(shape, qkv, inputs(q, k, v));
}

INKLING_BOTH_TYPES(attention<T>);

}  // namespace inkling

// For each head, in blocks of query rows (after Dao et al. 2022, FlashAttention):
//   forward    S = scale Q K^T    P = e^(S - m)    l = sum_j P_j    Y = P V / l
//              keys come in blocks too, with a running maximum m: when it grows, l and Y so far shrink by e^(m_old - m)
//   backward   from lse = m + ln l:  P = e^(S - lse)    D_i = dY_i . Y_i
//              the scale enters with the exponential, e^(scale (Q K^T - m)), so m and lse are kept without it
//              dV = P^T dY    dP = dY V^T    dS = P (dP - D) scale    dQ = dS K    dK = dS^T Q
//              one block of keys after the other, and for each all queries
// With dropout, P is masked before it meets V, and dP after; D is the same. Keys above the diagonal are never read.
// A thread works on whole heads, so every sum has one order.
// In bfloat16 q, k, v, dY, P and dS are rounded as they enter a product, and q, k, v are kept rounded.
#include "engine/ops/attention.h"
#include "engine/bfloat16.h"

#include "engine/backward.h"
#include "engine/broadcast.h"
#include "engine/ops/attention_heads.h"
#include "engine/parallel.h"
#include "engine/precision.h"
#include "engine/profile.h"

namespace inkling {
namespace {

template <class To, class A>
HeadMatrix<To> head_of(const A& x, std::size_t b, std::size_t h) {
    const auto& s = x.strides();
    const auto at = [](std::size_t i, std::ptrdiff_t stride) { return static_cast<std::ptrdiff_t>(i) * stride; };
    auto* const data = const_cast<typename A::value_type*>(x.data()) + at(b, s[0]) + at(h, s[1]);
    return {reinterpret_cast<To*>(data), s[2] == 0 ? static_cast<std::ptrdiff_t>(x.dim(3)) : s[2]};
}

// The rows of a head from `begin` on.
template <class E>
HeadMatrix<E> from(const HeadMatrix<E>& x, std::size_t begin) {
    return {x.at(begin), x.row};
}

// Elements of a row side by side, and a row for each position: not one row that is broadcast to all.
template <class T>
ConstArray<T> with_dense_rows(const ConstArray<T>& x) {
    const bool dense = x.strides()[3] == 1 || x.dim(3) == 1, broadcast = x.strides()[2] == 0 && x.dim(2) > 1;
    return dense && !broadcast ? x : ConstArray<T>(x.clone());
}

// Where the gradient of input i, of the given shape, is written: with dense rows.
template <class T>
Array<T> gradient_rows(Gradients<T>& grads, std::size_t i, const Shape& shape) {
    Array<T> place = grads.wanted(i) ? grads.empty(i) : Array<T>(shape);
    if (place.strides()[3] == 1 || place.dim(3) == 1) return place;
    return Array<T>(shape);
}

// A head's n rows, rounded to bfloat16.
void round_rows(const HeadMatrix<const float>& from, const HeadMatrix<float>& to, std::size_t n, std::size_t width) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < width; ++j) to.at(i)[j] = widen(round_to_bfloat16(from.at(i)[j]));
    }
}

template <class Operands, class T>
Tensor<T> run(const AttentionShape<T>& shape, const std::array<ConstArray<T>, 3>& given,
              std::vector<NodePtr<T>> nodes) {
    using E = typename Operands::Element;
    using Kept = typename Operands::Kept;
    const std::size_t B = shape.B, H = shape.H, Lq = shape.Lq, Lk = shape.Lk, d = shape.d, dv = shape.dv;
    const double seen =
        shape.options.causal ? static_cast<double>(Lk - Lq) + static_cast<double>(Lq + 1) / 2 : static_cast<double>(Lk);
    const double product_flops = 2.0 * static_cast<double>(B * H * Lq) * seen;  // of one unit of depth
    profile::count_flops(product_flops * static_cast<double>(d + dv));
    const auto heads_side_by_side = [=] { return Array<T>({B, Lq, H, dv}).transposed(1, 2); };  // as they leave
    std::array<ConstArray<T>, 3> qkv = given;
    for (ConstArray<T>& x : qkv)
        if (Operands::kRounded) x = Array<T>(x.shape());  // each head when its turn comes
    Array<T> y = heads_side_by_side(), lse({B * H, Lq});
    const Kept q = Operands::room(qkv[0]), k = Operands::room(qkv[1]), v = Operands::room(qkv[2]),
               y_kept = Operands::room(y);
    const std::size_t work = Lq * Lk * (d + dv);
    parallel_rows(B * H, work, [&](std::size_t begin, std::size_t end) {
        Scratch<T> scratch(shape, false);
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t n = 0; n < 3; ++n) {
                if constexpr (Operands::kRounded)
                    round_rows(head_of<const T>(given[n], i / H, i % H), head_of<T>(qkv[n], i / H, i % H),
                               given[n].dim(2), given[n].dim(3));
            }
            shape.for_documents(i / H, [&](const AttentionShape<T>& part, std::size_t at) {
                const auto head = [&](std::size_t n) { return from(head_of<const T>(qkv[n], i / H, i % H), at); };
                const auto place = [&](const Kept& x, std::size_t width) {
                    return Operands::place(x, i) + at * width / Operands::kPack;
                };
                const KeptPlaces<E> kept{place(q, d), place(k, d), place(v, dv)};
                forward_head<Operands>(part, i / H, i % H, head(0), head(1), head(2), kept,
                                       from(head_of<T>(y, i / H, i % H), at), lse.data() + i * Lq + at, scratch);
            });
            Operands::natural(head_of<const T>(y, i / H, i % H), Lq, dv, Operands::place(y_kept, i));
        }
    });
    const Tensor<T> result = record(
        "attention", y, std::move(nodes),
        [=, q = Saved(q), k = Saved(k), v = Saved(v), y = Saved(y_kept)](const Array<T>& dy_any, Gradients<T>& grads) {
            profile::count_flops(product_flops * static_cast<double>(3 * d + 2 * dv));
            const ConstArray<T> dy = with_dense_rows<T>(dy_any);
            const std::array<ConstArray<typename Kept::value_type>, 4> in{*q, *k, *v, *y};
            Array<T> dq = gradient_rows(grads, 0, {B, H, Lq, d}), dk = gradient_rows(grads, 1, {B, H, Lk, d});
            Array<T> dvalue = gradient_rows(grads, 2, {B, H, Lk, dv});
            parallel_rows(B * H, work, [&](std::size_t begin, std::size_t end) {
                Scratch<T> scratch(shape, true);
                for (std::size_t i = begin; i < end; ++i) {
                    const std::size_t b = i / H, h = i % H;
                    shape.for_documents(b, [&](const AttentionShape<T>& part, std::size_t at) {
                        const auto head = [&](std::size_t n) { return from(head_of<const E>(in[n], b, h), at); };
                        const auto out = [&](Array<T>& x) { return from(head_of<T>(x, b, h), at); };
                        backward_head<Operands>(part, b, h, head(0), head(1), head(2), head(3),
                                                from(head_of<const T>(dy, b, h), at), lse.data() + i * Lq + at, out(dq),
                                                out(dk), out(dvalue), scratch);
                    });
                }
            });
            grads.add(0, std::move(dq));
            grads.add(1, std::move(dk));
            grads.add(2, std::move(dvalue));
        });
    if (result.node()) result.node()->make_grad = [=](Node<T>&) { return heads_side_by_side(); };
    if (worth_recomputing(result)) result.node()->recompute = [y_kept] { return Operands::full(y_kept); };
    return result;
}

void check_documents(const Shape& q, const Shape& k, const FusedAttention& options) {
    if (!options.begins.defined()) return;
    const IdArray& begins = options.begins;
    check(options.causal && !options.mask.defined() && q[2] == k[2] && begins.shape() == Shape{q[0], q[2]},
          "attention: where documents begin (B, L) is for causal attention of q (B, H, L, d) and k (B, H, L, d) "
          "without a "
          "mask, got {} for {} and {}",
          begins.shape(), q, k);
    for (std::size_t b = 0; b < q[0]; ++b) {
        for (std::size_t i = 0; i < q[2]; ++i) {
            const std::int32_t begin = begins(b, i);
            check(begin == static_cast<std::int32_t>(i) || (i > 0 && begin == begins(b, i - 1)),
                  "attention: position {} of row {} is where its document begins, or is of the document of the one "
                  "before: "
                  "got {}",
                  i, b, begin);
        }
    }
}

}  // namespace

template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const FusedAttention& options) {
    check_defined("attention", q, k, v);
    check(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q.dim(0) == k.dim(0) && q.dim(1) == k.dim(1) &&
              q.dim(3) == k.dim(3) && v.dim(0) == k.dim(0) && v.dim(1) == k.dim(1) && v.dim(2) == k.dim(2) &&
              k.dim(2) > 0,
          "attention: q (B, H, Lq, d), k (B, H, Lk, d) and v (B, H, Lk, dv) are required, got {}, {} and {}", q.shape(),
          k.shape(), v.shape());
    check((!options.causal && options.alibi.empty()) || q.dim(2) <= k.dim(2),
          "attention: causal queries and those with ALiBi must have a key of their own, got {} queries for {} keys",
          q.dim(2), k.dim(2));
    check(options.alibi.empty() || options.alibi.size() == q.dim(1),
          "attention: one ALiBi slope a head is required, got {} for q {}", options.alibi.size(), q.shape());
    check(options.dropout >= 0 && options.dropout < 1,
          "attention: a dropout of at least 0 and below 1 is required, got {}", options.dropout);
    check_documents(q.shape(), k.shape(), options);
    AttentionShape<T> shape{q.dim(0), q.dim(1), q.dim(2), k.dim(2), q.dim(3), v.dim(3), options, {}};
    shape.options.begins = options.begins.defined() ? IdArray(options.begins.contiguous()) : IdArray();
    const std::size_t B = shape.B, H = shape.H, Lq = shape.Lq, Lk = shape.Lk;
    [[maybe_unused]] const std::size_t d = shape.d, dv = shape.dv;  // used where pairs of bfloat16 are multiplied
    if (options.mask.defined()) {
        const Shape scores{B, H, Lq, Lk};
        check(broadcasts_to(options.mask.shape(), scores),
              "attention: the mask must broadcast to the scores {}, got {}", scores, options.mask.shape());
        shape.mask = options.mask.broadcasted(scores);
    }
    std::array<ConstArray<T>, 3> qkv{with_dense_rows(q.value()), with_dense_rows(k.value()),
                                     with_dense_rows(v.value())};
    if constexpr (std::is_same_v<T, float>) {
        if (product_precision() == Precision::bf16) {
#ifdef __AVX512BF16__
            if (has_fast_bf16() && d % 2 == 0 && dv % 2 == 0) return run<PairOperands>(shape, qkv, inputs(q, k, v));
#endif
            return run<RoundedOperands>(shape, qkv, inputs(q, k, v));
        }
    }
    return run<FloatOperands<T>>(shape, qkv, inputs(q, k, v));
}

template Tensor<float> attention(const Tensor<float>&, const Tensor<float>&, const Tensor<float>&,
                                 const FusedAttention&);
template Tensor<double> attention(const Tensor<double>&, const Tensor<double>&, const Tensor<double>&,
                                  const FusedAttention&);

}  // namespace inkling

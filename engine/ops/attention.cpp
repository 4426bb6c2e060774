// For each head, in blocks of query rows (after Dao et al. 2022, FlashAttention):
//   forward    S = scale Q K^T    P = e^(S - m)    l = sum_j P_j    Y = P V / l
//              keys come in blocks too, with a running maximum m: when it grows, l and Y so far shrink by e^(m_old - m)
//   backward   from lse = m + ln l:  P = e^(S - lse)    D_i = dY_i . Y_i
//              dV = P^T dY    dP = dY V^T    dS = P (dP - D) scale    dQ = dS K    dK = dS^T Q
// With dropout, P is masked before it meets V, and dP after; D is the same. Keys above the diagonal are never touched.
// A thread works on whole heads, so every sum has one order.
#include "engine/ops/attention.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/broadcast.h"
#include "engine/parallel.h"
#include "engine/profile.h"
#include "engine/simd.h"
#include "engine/tile_product.h"

namespace inkling {
namespace {

constexpr std::size_t kRows = 32;   // queries at a time
constexpr std::size_t kKeys = 512;  // keys at a time

// One head of an array (B, H, L, d) with dense rows.
template <class T>
struct Head {
    T* data;
    std::ptrdiff_t row;
    T* at(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * row; }
};

template <class T>
Head<T> head_of(const Array<T>& x, std::size_t b, std::size_t h) {
    const auto& s = x.strides();
    return {const_cast<T*>(x.data()) + static_cast<std::ptrdiff_t>(b) * s[0] + static_cast<std::ptrdiff_t>(h) * s[1],
            s[2] == 0 ? static_cast<std::ptrdiff_t>(x.dim(3)) : s[2]};
}

// Elements of a row side by side, and a row for each position: not one row that is broadcast to all.
template <class T>
Array<T> with_dense_rows(const Array<T>& x) {
    const bool dense = x.strides()[3] == 1 || x.dim(3) == 1, broadcast = x.strides()[2] == 0 && x.dim(2) > 1;
    return dense && !broadcast ? x : x.clone();
}

// What both passes share: sizes, and the scores of a block.
template <class T>
struct Plan {
    std::size_t B, H, Lq, Lk, d, dv;
    FusedAttention options;
    MaskArray mask;  // broadcast to (B, H, Lq, Lk), when there is one

    // Keys that queries before `end` may see.
    std::size_t seen(std::size_t end) const { return options.causal ? end + Lk - Lq : Lk; }
    // Of keys [j0, j1), how many query i may see.
    std::size_t width(std::size_t i, std::size_t j0, std::size_t j1) const {
        return std::min(j1, std::max(j0, seen(i + 1))) - j0;
    }

    // What products q . k are to be multiplied with once they are finished. A plain positive scale waits until then.
    T late_scale() const {
        const bool plain = options.alibi.empty() && !mask.defined() && options.scale > 0;
        return plain ? static_cast<T>(options.scale) : T{1};
    }

    // Products q . k of row i with n keys from j0 become scores: less the distance, -inf in blocked places and in those
    // up to the next whole vector, whose number is returned.
    std::size_t finish_scores(std::size_t b, std::size_t h, std::size_t i, std::size_t j0, std::size_t n,
                              T* scores) const {
        const std::size_t whole = whole_vectors<T>(n);
        if (options.alibi.empty() && !mask.defined() && options.scale > 0) {
            std::fill(scores + n, scores + whole, -std::numeric_limits<T>::infinity());
            return whole;
        }
        const Vec<T> scale(static_cast<T>(options.scale));
        simd_map(
            n, scores, [scale](auto x) { return x * scale; }, scores);
        std::fill(scores + n, scores + whole, -std::numeric_limits<T>::infinity());
        if (!options.alibi.empty()) {
            const double here = static_cast<double>(i + Lk - Lq);
            for (std::size_t j = 0; j < n; ++j) {
                scores[j] -= static_cast<T>(options.alibi[h] * (here - static_cast<double>(j0 + j)));
            }
        }
        if (!mask.defined()) return whole;
        const auto& s = mask.strides();
        const auto at = [](std::size_t index, std::ptrdiff_t stride) {
            return static_cast<std::ptrdiff_t>(index) * stride;
        };
        const std::uint8_t* flag = mask.data() + at(b, s[0]) + at(h, s[1]) + at(i, s[2]) + at(j0, s[3]);
        for (std::size_t j = 0; j < n; ++j, flag += s[3]) {
            if (!*flag) scores[j] = -std::numeric_limits<T>::infinity();
        }
        return whole;
    }

    // The dropout factors of row i, keys j0 .. j0 + n: 0, or 1 / (1 - p).
    void drop_factors(std::size_t b, std::size_t h, std::size_t i, std::size_t j0, std::size_t n, T* factors) const {
        std::uint32_t words[kKeys];
        const std::uint64_t first = ((static_cast<std::uint64_t>(b) * H + h) * Lq + i) * Lk + j0;
        random_words_range(options.dropout_key, first, n, words);
        const std::uint32_t threshold = dropout_threshold(options.dropout);
        const T keep = static_cast<T>(1.0 / (1.0 - options.dropout));
        for (std::size_t j = 0; j < n; ++j) factors[j] = words[j] >= threshold ? keep : T{0};
    }
};

template <class T>
struct Scratch {  // of one thread
    Array<T> kt, vt, s, dp, dk, dv;
};

template <class T>
void forward_head(const Plan<T>& plan, std::size_t b, std::size_t h, const Array<T>& qa, const Array<T>& ka,
                  const Array<T>& va, Array<T>& ya, T* lse, Scratch<T>& scratch) {
    const Head<T> q = head_of(qa, b, h), k = head_of(ka, b, h), v = head_of(va, b, h), y = head_of(ya, b, h);
    const auto ld = static_cast<std::ptrdiff_t>(whole_vectors<T>(plan.Lk));
    T* const kt = scratch.kt.data();
    turn(k.data, k.row, plan.Lk, plan.d, kt, static_cast<std::size_t>(ld));
    T* const s = scratch.s.data();
    const T late = plan.late_scale();
    for (std::size_t i0 = 0; i0 < plan.Lq; i0 += kRows) {
        const std::size_t i1 = std::min(plan.Lq, i0 + kRows), rows = i1 - i0, seen = plan.seen(i1);
        T m[kRows], l[kRows];
        std::fill_n(m, rows, -std::numeric_limits<T>::infinity());
        std::fill_n(l, rows, T{0});
        for (std::size_t j0 = 0; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0;
            tile_product(rows, n, plan.d, q.at(i0), q.row, 1, kt + j0, ld, s, static_cast<std::ptrdiff_t>(kKeys),
                         false);
            for (std::size_t r = 0; r < rows; ++r) {
                T* const row = s + r * kKeys;
                const std::size_t width = plan.width(i0 + r, j0, j1);
                const std::size_t whole = plan.finish_scores(b, h, i0 + r, j0, width, row);
                const T top = std::max(m[r], simd_max(whole, row) * late);
                if (top == -std::numeric_limits<T>::infinity()) {  // blocked; or NaN, which no maximum shows
                    if (std::any_of(row, row + width, [](T x) { return std::isnan(x); })) {
                        l[r] = std::numeric_limits<T>::quiet_NaN();
                    }
                    std::fill_n(row, n, T{0});
                    continue;
                }
                simd_map(
                    whole, row,
                    [vtop = Vec<T>(top), late = Vec<T>(late)](auto x) { return xsimd::exp(x * late - vtop); }, row);
                const T shrink = std::exp(m[r] - top);
                l[r] = l[r] * shrink + simd_sum(
                                           whole, [](auto x) { return x; }, row);
                m[r] = top;
                if (whole < n) std::fill(row + whole, row + n, T{0});
                if (plan.options.dropout > 0) {
                    T factors[kKeys];
                    plan.drop_factors(b, h, i0 + r, j0, width, factors);
                    simd_map(
                        width, row, [](auto x, auto f) { return x * f; }, row, factors);
                }
                if (j0 > 0 && shrink != T{1}) {
                    simd_map(
                        plan.dv, y.at(i0 + r), [f = Vec<T>(shrink)](auto x) { return x * f; }, y.at(i0 + r));
                }
            }
            tile_product(rows, plan.dv, n, s, static_cast<std::ptrdiff_t>(kKeys), 1, v.at(j0), v.row, y.at(i0), y.row,
                         j0 > 0);
        }
        for (std::size_t r = 0; r < rows; ++r) {
            check(l[r] > 0 || std::isnan(l[r]), "attention: query {} of batch {} may see no key: every place is masked",
                  i0 + r, b);
            simd_map(
                plan.dv, y.at(i0 + r), [f = Vec<T>(T{1} / l[r])](auto x) { return x * f; }, y.at(i0 + r));
            lse[i0 + r] = m[r] + std::log(l[r]);
        }
    }
}

template <class T>
void backward_head(const Plan<T>& plan, std::size_t b, std::size_t h, const std::array<Array<T>, 5>& arrays,
                   const T* lse, Array<T>& dqa, Scratch<T>& scratch) {
    const auto& [qa, ka, va, ya, dya] = arrays;
    const Head<T> q = head_of(qa, b, h), k = head_of(ka, b, h), v = head_of(va, b, h), y = head_of(ya, b, h),
                  dy = head_of(dya, b, h), dq = head_of(dqa, b, h);
    const auto ld = static_cast<std::ptrdiff_t>(whole_vectors<T>(plan.Lk)), lds = static_cast<std::ptrdiff_t>(kKeys);
    const auto d = static_cast<std::ptrdiff_t>(plan.d), dv = static_cast<std::ptrdiff_t>(plan.dv);
    T *const kt = scratch.kt.data(), *const vt = scratch.vt.data();
    turn(k.data, k.row, plan.Lk, plan.d, kt, static_cast<std::size_t>(ld));
    turn(v.data, v.row, plan.Lk, plan.dv, vt, static_cast<std::size_t>(ld));
    T *const p = scratch.s.data(), *const dp = scratch.dp.data(), *const dk = scratch.dk.data(),
             *const dvs = scratch.dv.data();
    std::fill_n(dk, plan.Lk * plan.d, T{0});
    std::fill_n(dvs, plan.Lk * plan.dv, T{0});
    const bool dropping = plan.options.dropout > 0;
    const Vec<T> scale(static_cast<T>(plan.options.scale)), late(plan.late_scale());
    for (std::size_t i0 = 0; i0 < plan.Lq; i0 += kRows) {
        const std::size_t i1 = std::min(plan.Lq, i0 + kRows), rows = i1 - i0, seen = plan.seen(i1);
        for (std::size_t j0 = 0; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0;
            tile_product(rows, n, plan.d, q.at(i0), q.row, 1, kt + j0, ld, p, lds, false);
            tile_product(rows, n, plan.dv, dy.at(i0), dy.row, 1, vt + j0, ld, dp, lds, false);
            for (std::size_t r = 0; r < rows; ++r) {
                T *const pr = p + r * kKeys, *const dpr = dp + r * kKeys;
                const std::size_t i = i0 + r, width = plan.width(i, j0, j1);
                const Vec<T> norm(lse[i]);
                const std::size_t whole = plan.finish_scores(b, h, i, j0, width, pr);
                simd_map(
                    whole, pr, [norm, late](auto x) { return xsimd::exp(x * late - norm); }, pr);
                if (whole < n) std::fill(pr + whole, pr + n, T{0});
                T factors[kKeys];
                if (dropping) {
                    plan.drop_factors(b, h, i, j0, width, factors);
                    simd_map(
                        width, dpr, [](auto x, auto f) { return x * f; }, dpr, factors);
                }
                const Vec<T> D(simd_sum(
                    plan.dv, [](auto u, auto w) { return u * w; }, dy.at(i), y.at(i)));
                simd_map(
                    whole, dpr, [=](auto prob, auto g) { return prob * (g - D) * scale; }, pr, dpr);
                std::fill(dpr + width, dpr + n, T{0});
                if (dropping)
                    simd_map(
                        width, pr, [](auto x, auto f) { return x * f; }, pr, factors);  // as V met it
            }
            tile_product(n, plan.dv, rows, p, 1, lds, dy.at(i0), dy.row, dvs + static_cast<std::ptrdiff_t>(j0) * dv, dv,
                         true);
            tile_product(n, plan.d, rows, dp, 1, lds, q.at(i0), q.row, dk + static_cast<std::ptrdiff_t>(j0) * d, d,
                         true);
            tile_product(rows, plan.d, n, dp, lds, 1, k.at(j0), k.row, dq.at(i0), dq.row, j0 > 0);
        }
    }
}

template <class T>
void store_rows(const T* from, std::size_t rows, std::size_t width, const Head<T>& to) {
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(from + i * width, width, to.at(i));
}

}  // namespace

template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const FusedAttention& options) {
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
    Plan<T> plan{q.dim(0), q.dim(1), q.dim(2), k.dim(2), q.dim(3), v.dim(3), options, {}};
    const std::size_t B = plan.B, H = plan.H, Lq = plan.Lq, Lk = plan.Lk, d = plan.d, dv = plan.dv;
    if (options.mask.defined()) {
        const Shape scores{B, H, Lq, Lk};
        check(broadcasts_to(options.mask.shape(), scores),
              "attention: the mask must broadcast to the scores {}, got {}", scores, options.mask.shape());
        plan.mask = options.mask.broadcasted(scores);
    }
    const Array<T> qa = with_dense_rows(q.value()), ka = with_dense_rows(k.value()), va = with_dense_rows(v.value());
    Array<T> y = Array<T>({B, Lq, H, dv}).transposed(1, 2), lse({B * H, Lq});
    const std::size_t turned = whole_vectors<T>(Lk), work = Lq * Lk * (d + dv);
    const double seen = options.causal ? (static_cast<double>(Lk - Lq) + static_cast<double>(Lq + 1) / 2)
                                       : static_cast<double>(Lk),
                 product_flops = 2.0 * static_cast<double>(B * H * Lq) * seen;  // of one unit of depth
    profile::count_flops(product_flops * static_cast<double>(d + dv));
    const auto scores = [&] { return Array<T>({kRows, kKeys}); };
    parallel_rows(B * H, work, [&](std::size_t begin, std::size_t end) {
        Scratch<T> scratch{Array<T>({d, turned}), {}, scores(), {}, {}, {}};
        for (std::size_t i = begin; i < end; ++i) {
            forward_head(plan, i / H, i % H, qa, ka, va, y, lse.data() + i * Lq, scratch);
        }
    });
    return record(
        "attention", y, inputs(q, k, v),
        [=, sq = Saved(qa), sk = Saved(ka), sv = Saved(va), sy = Saved(y)](const Array<T>& dy, Gradients<T>& grads) {
            profile::count_flops(product_flops * static_cast<double>(3 * d + 2 * dv));
            const std::array<Array<T>, 5> arrays{*sq, *sk, *sv, *sy, with_dense_rows(dy)};
            // Written where the gradient lives, when nothing is there yet and its rows are dense.
            std::array<Array<T>, 3> out{Array<T>(), Array<T>(), Array<T>()};
            std::array<bool, 3> in_place{};
            const std::array<Shape, 3> shapes{sq->shape(), sk->shape(), sv->shape()};
            for (std::size_t i = 0; i < 3; ++i) {
                if (grads.wanted(i) && !grads.input(i).has_grad && !grads.input(i).keep_place) {
                    const Array<T> place = grads.target(i).array;
                    in_place[i] = place.strides()[3] == 1 || place.dim(3) == 1;
                    if (in_place[i]) out[i] = place;
                    if (!in_place[i]) grads.input(i).has_grad = false;
                }
                if (!in_place[i]) out[i] = Array<T>(shapes[i]);
            }
            parallel_rows(B * H, work, [&](std::size_t begin, std::size_t end) {
                Scratch<T> scratch{Array<T>({d, turned}), Array<T>({dv, turned}), scores(), scores(),
                                   Array<T>({Lk, d}),     Array<T>({Lk, dv})};
                for (std::size_t i = begin; i < end; ++i) {
                    backward_head(plan, i / H, i % H, arrays, lse.data() + i * Lq, out[0], scratch);
                    store_rows(scratch.dk.data(), Lk, d, head_of(out[1], i / H, i % H));
                    store_rows(scratch.dv.data(), Lk, dv, head_of(out[2], i / H, i % H));
                }
            });
            for (std::size_t i = 0; i < 3; ++i) {
                if (grads.wanted(i) && !in_place[i]) grads.add(i, out[i]);
            }
        });
}

template Tensor<float> attention(const Tensor<float>&, const Tensor<float>&, const Tensor<float>&,
                                 const FusedAttention&);
template Tensor<double> attention(const Tensor<double>&, const Tensor<double>&, const Tensor<double>&,
                                  const FusedAttention&);

}  // namespace inkling

// The passes of attention over one head; the formulas are in attention.cpp.
#pragma once

#include <cmath>

#include "engine/ops/attention_forms.h"
#include "engine/ops/attention_plan.h"

namespace inkling {

// Where the operands of one head are kept for backward (FloatForm: they are already).
template <class E>
struct KeptPlaces {
    E *q, *k, *v;
};

// The output of a query whose every key is masked.
template <class T>
void see_nothing(const Plan<T>& plan, std::size_t b, std::size_t h, std::size_t i, const Head<const T>& v, T* y) {
    check(plan.options.masked != Masked::error, "attention: query {} of batch {} may see no key: every place is masked",
          i, b);
    std::fill_n(y, plan.dv, T{0});
    plan.for_even_weights(b, h, i, [&](std::size_t j, Vec<T> weight) {
        simd_map(
            plan.dv, y, [weight](auto sum, auto value) { return sum + weight * value; }, y, v.at(j));
    });
}

template <class Form, class T>
void forward_head(const Plan<T>& plan, std::size_t b, std::size_t h, const Head<const T>& q_in,
                  const Head<const T>& k_in, const Head<const T>& v_in, const KeptPlaces<typename Form::Element>& kept,
                  const Head<T>& y, T* lse, Scratch<T>& scratch) {
    using E = typename Form::Element;
    constexpr std::size_t pack = Form::kPack;
    const std::size_t d = plan.d, dv = plan.dv, score_row = plan.score_row();
    const auto lds = static_cast<std::ptrdiff_t>(score_row);
    Packing<E> packing(scratch.packed);
    const auto q = Form::natural(q_in, plan.Lq, d, kept.q), k = Form::natural(k_in, plan.Lk, d, kept.k);
    const auto v =
        Form::right(Form::natural(v_in, plan.Lk, dv, kept.v), plan.Lk, dv, packing.take((plan.Lk + 1) / pack * dv));
    E* const p_natural = packing.take(kRows * kKeys / pack);
    const std::size_t ld = whole_vectors<T>(plan.Lk);
    E* const kt = reinterpret_cast<E*>(scratch.kt.data());
    turn(k.data, k.row, plan.Lk, d / pack, kt, ld);
    T* const s = scratch.s.data();
    for (std::size_t i0 = 0; i0 < plan.Lq; i0 += kRows) {
        const std::size_t i1 = std::min(plan.Lq, i0 + kRows), rows = i1 - i0, seen = plan.seen(i1);
        T m[kRows], l[kRows], factor{};
        std::fill_n(m, rows, -std::numeric_limits<T>::infinity());
        std::fill_n(l, rows, T{0});
        for (std::size_t j0 = 0; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0, depth = (n + pack - 1) / pack;
            plan.for_strips(i0, i1, j0, j1, [&](std::size_t i, std::size_t count, std::size_t width) {
                tile_product(count, whole_vectors<T>(width), d / pack, q.at(i), q.row, 1, kt + j0,
                             static_cast<std::ptrdiff_t>(ld), s + (i - i0) * score_row, lds, false);
            });
            for (std::size_t r = 0; r < rows; ++r) {
                T* const row = s + r * score_row;
                const std::size_t width = plan.width(i0 + r, j0, j1);
                factor = plan.finish_scores(b, h, i0 + r, j0, width, row);
                const T top = std::max(m[r], simd_max(width, row));
                if (top == -std::numeric_limits<T>::infinity()) {  // blocked; or NaN, which no maximum shows
                    if (has_nan(width, row)) l[r] = std::numeric_limits<T>::quiet_NaN();
                    std::fill_n(row, depth * pack, T{0});
                    continue;
                }
                const T sum = simd_map_sum(
                    width, row, [f = Vec<T>(factor), t = Vec<T>(top)](auto x) { return xsimd::exp((x - t) * f); }, row);
                const T shrink = j0 > 0 ? std::exp((m[r] - top) * factor) : T{0};
                l[r] = l[r] * shrink + sum;
                m[r] = top;
                std::fill(row + width, row + depth * pack, T{0});
                if (plan.options.dropout > 0) {
                    T factors[kKeys];
                    plan.drop_factors(b, h, i0 + r, j0, width, factors);
                    simd_map(
                        width, row, [](auto x, auto f) { return x * f; }, row, factors);
                }
                if (j0 > 0 && shrink != T{1}) {
                    simd_map(
                        dv, y.at(i0 + r), [f = Vec<T>(shrink)](auto x) { return x * f; }, y.at(i0 + r));
                }
            }
            const auto p = Form::natural(Head<const T>{s, lds}, rows, depth * pack, p_natural);
            plan.for_strips(i0, i1, j0, j1, [&](std::size_t i, std::size_t count, std::size_t width) {
                tile_product(count, dv, (width + pack - 1) / pack, p.at(i - i0), p.row, 1, v.at(j0 / pack), v.row,
                             y.at(i), y.row, j0 > 0);
            });
        }
        for (std::size_t r = 0; r < rows; ++r) {
            if (l[r] == 0) {  // no score above -inf
                if (!plan.sees_any(b, h, i0 + r)) {
                    see_nothing(plan, b, h, i0 + r, v_in, y.at(i0 + r));
                    lse[i0 + r] = std::numeric_limits<T>::infinity();  // so that backward finds every weight 0
                    continue;
                }
                l[r] = std::numeric_limits<T>::quiet_NaN();
            }
            simd_map(
                dv, y.at(i0 + r), [f = Vec<T>(T{1} / l[r])](auto x) { return x * f; }, y.at(i0 + r));
            lse[i0 + r] = m[r] + std::log(l[r]) / factor;
        }
    }
}

// Sums over queries: rows [0, old) of C grow by A B, those from there to n are A B. A is given by columns.
template <class E, class T>
void add_product(std::size_t old, std::size_t n, std::size_t width, std::size_t depth, const Head<const E>& a,
                 const Head<const E>& b, const Head<T>& c) {
    old = std::min(old, n);
    tile_product(old, width, depth, a.data, 1, a.row, b.data, b.row, c.data, c.row, true);
    tile_product(n - old, width, depth, a.data + old, 1, a.row, b.data, b.row, c.at(old), c.row, false);
}

// q, k, v and y as forward kept them.
template <class Form, class T>
void backward_head(const Plan<T>& plan, std::size_t b, std::size_t h, const Head<const typename Form::Element>& q,
                   const Head<const typename Form::Element>& k, const Head<const typename Form::Element>& v,
                   const Head<const typename Form::Element>& y, const Head<const T>& dy, const T* lse,
                   const Head<T>& dq, const Head<T>& dk, const Head<T>& dvalue, Scratch<T>& scratch) {
    using E = typename Form::Element;
    constexpr std::size_t pack = Form::kPack;
    const std::size_t d = plan.d, dv = plan.dv, Lq = plan.Lq, Lk = plan.Lk, score_row = plan.score_row();
    Packing<E> packing(scratch.packed);
    const auto right = [&](const auto& x, std::size_t n, std::size_t width) {
        return Form::right(x, n, width, packing.take((n + 1) / pack * width));
    };
    const auto g = Form::natural(dy, Lq, dv, packing.take(Lq * dv / pack));
    const auto q2 = right(q, Lq, d), k2 = right(k, Lk, d), g2 = right(g, Lq, dv);
    E *const block = packing.take(kRows * kKeys / pack), *const block2 = packing.take(kRows * kKeys / pack);
    const std::size_t row_of_turned = whole_vectors<T>(Lk);
    const auto ld = static_cast<std::ptrdiff_t>(row_of_turned), lds = static_cast<std::ptrdiff_t>(score_row);
    E *const kt = reinterpret_cast<E*>(scratch.kt.data()), *const vt = reinterpret_cast<E*>(scratch.vt.data());
    turn(k.data, k.row, Lk, d / pack, kt, row_of_turned);
    turn(v.data, v.row, Lk, dv / pack, vt, row_of_turned);
    T *const p = scratch.s.data(), *const dp = scratch.dp.data();
    const bool dropping = plan.options.dropout > 0;
    const Vec<T> scale(static_cast<T>(plan.options.scale));
    for (std::size_t i0 = 0; i0 < Lq; i0 += kRows) {
        const std::size_t i1 = std::min(Lq, i0 + kRows), rows = i1 - i0, seen = plan.seen(i1);
        const std::size_t seen_before = i0 > 0 ? plan.seen(i0) : 0;  // keys whose gradient has begun
        for (std::size_t i = i0; i < i1; ++i) {                      // rows that lie far apart, for D
            for (std::size_t j = 0; j < dv / pack; j += 64 / sizeof(E)) __builtin_prefetch(y.at(i) + j);
        }
        for (std::size_t j0 = 0; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0, columns = (n + pack - 1) / pack * pack;
            plan.for_strips(i0, i1, j0, j1, [&](std::size_t i, std::size_t count, std::size_t width) {
                const std::size_t whole = whole_vectors<T>(width), at = (i - i0) * score_row;
                tile_product(count, whole, d / pack, q.at(i), q.row, 1, kt + j0, ld, p + at, lds, false);
                tile_product(count, whole, dv / pack, g.at(i), g.row, 1, vt + j0, ld, dp + at, lds, false);
            });
            for (std::size_t r = 0; r < rows; ++r) {
                T *const pr = p + r * score_row, *const dpr = dp + r * score_row;
                const std::size_t i = i0 + r, width = plan.width(i, j0, j1);
                const Vec<T> factor(plan.finish_scores(b, h, i, j0, width, pr)), norm(lse[i]);
                const Vec<T> D(Form::dot(dy.at(i), y.at(i), dv));
                const auto slope = [=](auto& x, auto& dx) {  // a score and dP become P and dS
                    x = xsimd::exp((x - norm) * factor);
                    dx = x * (dx - D) * scale;
                };
                if (dropping) {
                    T factors[kKeys];
                    plan.drop_factors(b, h, i, j0, width, factors);
                    const auto dropped_slope = [=](auto& x, auto& dx, auto& f) {
                        dx *= f;
                        slope(x, dx);
                        x *= f;  // as V met it
                    };
                    simd_update(width, dropped_slope, pr, dpr, factors);
                } else {
                    simd_update(width, slope, pr, dpr);
                }
                std::fill(pr + width, pr + columns, T{0});
                std::fill(dpr + width, dpr + columns, T{0});
            }
            const std::size_t old = seen_before - std::min(seen_before, j0);
            const auto p2 =
                Form::stacked(Form::natural(Head<const T>{p, lds}, rows, columns, block), rows, columns, block2);
            const std::size_t pairs = (rows + pack - 1) / pack;
            add_product<E, T>(old, n, dv, pairs, p2, {g2.at(i0 / pack), g2.row}, {dvalue.at(j0), dvalue.row});
            const auto ds = Form::natural(Head<const T>{dp, lds}, rows, columns, block);
            const auto ds2 = Form::stacked(ds, rows, columns, block2);
            add_product<E, T>(old, n, d, pairs, ds2, {q2.at(i0 / pack), q2.row}, {dk.at(j0), dk.row});
            plan.for_strips(i0, i1, j0, j1, [&](std::size_t i, std::size_t count, std::size_t width) {
                tile_product(count, d, (width + pack - 1) / pack, ds.at(i - i0), ds.row, 1, k2.at(j0 / pack), k2.row,
                             dq.at(i), dq.row, j0 > 0);
            });
        }
    }
    for (std::size_t j = Lq > 0 ? plan.seen(Lq) : 0; j < Lk; ++j) {  // keys that no query sees
        std::fill_n(dk.at(j), d, T{0});
        std::fill_n(dvalue.at(j), dv, T{0});
    }
    for (std::size_t i = 0; i < Lq; ++i) {
        if (lse[i] != std::numeric_limits<T>::infinity()) continue;
        plan.for_even_weights(b, h, i, [&](std::size_t j, Vec<T> weight) {
            simd_map(
                dv, dvalue.at(j), [weight](auto sum, auto of_y) { return sum + weight * of_y; }, dvalue.at(j),
                dy.at(i));
        });
    }
}

}  // namespace inkling

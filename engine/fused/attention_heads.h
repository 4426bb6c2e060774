// The passes of attention over one head; the formulas are in attention.cpp.
#pragma once

#include <cmath>

#include "engine/fused/attention_block.h"
#include "engine/fused/attention_operands.h"
#include "engine/kernels/add_row.h"

namespace inkling {

// The output of a fully masked query.
template <class T>
void see_nothing(const AttentionShape<T>& shape, std::size_t b, std::size_t h, std::size_t i,
                 const HeadMatrix<const T>& v, T* y) {
    check(shape.options.masked != Masked::error,
          "attention: query {} of batch {} may see no key: every place is masked", i, b);
    std::fill_n(y, shape.dv, T{0});
    shape.for_even_weights(b, h, i, [&](std::size_t j, Vec<T> weight) {
        simd_map(shape.dv, y, {y, v.at(j)}, [weight](auto sum, auto value) { return sum + weight * value; });
    });
}

// Computes the output of one head of queries. The scratch memory holds the transposed keys; `pieces` hands out the rest
// of it. v holds v_in packed as a right operand.
template <class Operands, class T, class E>
void forward_head(const AttentionShape<T>& shape, std::size_t b, std::size_t h, const HeadMatrix<const E>& q,
                  const HeadMatrix<const E>& v, const HeadMatrix<const T>& v_in, const HeadMatrix<T>& y, T* lse,
                  const Scratch<T>& scratch, ScratchPieces<E> pieces) {
    constexpr std::size_t pack = Operands::kPack;
    const std::size_t d = shape.d, dv = shape.dv, score_row = shape.score_row();
    const auto lds = static_cast<std::ptrdiff_t>(score_row);
    E* const p_natural = pieces.take(kRows * kKeys / pack);
    const std::size_t ld = whole_vectors<T>(shape.Lk);
    const E* const kt = reinterpret_cast<const E*>(scratch.kt);
    T* const s = scratch.s;
    for (std::size_t i0 = 0; i0 < shape.Lq; i0 += kRows) {
        const std::size_t i1 = std::min(shape.Lq, i0 + kRows), rows = i1 - i0, seen = shape.seen(i1);
        T m[kRows], l[kRows], factor{};
        std::fill_n(m, rows, -std::numeric_limits<T>::infinity());
        std::fill_n(l, rows, T{0});
        const std::size_t first = shape.first_block(i0);
        for (std::size_t j0 = first; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0, depth = (n + pack - 1) / pack;
            shape.for_strips(
                i0, i1, j0, j1, [&](std::size_t i, std::size_t count, std::size_t skip, std::size_t width) {
                    tile_product(count, whole_vectors<T>(width - skip), d / pack, q.at(i), q.row, 1, kt + j0 + skip,
                                 static_cast<std::ptrdiff_t>(ld), s + (i - i0) * score_row + skip, lds, false);
                });
            for (std::size_t r = 0; r < rows; ++r) {
                const std::size_t end = shape.width(i0 + r, j0, j1), skip = shape.skipped(i0 + r, j0, end);
                const std::size_t width = end - skip;
                T *const all = s + r * score_row, *const row = all + skip;
                factor = shape.finish_scores(b, h, i0 + r, j0 + skip, width, row);
                const T top = std::max(m[r], simd_max(width, row));
                if (top == -std::numeric_limits<T>::infinity()) {  // blocked; or NaN, which a maximum does not show
                    if (has_nan(width, row)) l[r] = std::numeric_limits<T>::quiet_NaN();
                    std::fill_n(all, depth * pack, T{0});
                    continue;
                }
                const T sum = simd_map_sum(width, row, row, [f = Vec<T>(factor), t = Vec<T>(top)](auto x) {
                    return portable::exp((x - t) * f);
                });
                const T shrink = j0 > first ? portable::exp((m[r] - top) * factor) : T{0};
                l[r] = l[r] * shrink + sum;
                m[r] = top;
                std::fill_n(all, skip, T{0});
                std::fill(all + end, all + depth * pack, T{0});
                if (shape.options.dropout > 0) {
                    T factors[kKeys];
                    shape.drop_factors(b, h, i0 + r, j0 + skip, width, factors);
                    simd_map(width, row, {row, factors}, [](auto x, auto f) { return x * f; });
                }
                if (j0 > first && shrink != T{1}) {
                    simd_map(dv, y.at(i0 + r), {y.at(i0 + r)}, [f = Vec<T>(shrink)](auto x) { return x * f; });
                }
            }
            const auto p = Operands::natural(HeadMatrix<const T>{s, lds}, rows, depth * pack, p_natural);
            shape.for_strips(i0, i1, j0, j1,
                             [&](std::size_t i, std::size_t count, std::size_t skip, std::size_t width) {
                                 tile_product(count, dv, (width - skip + pack - 1) / pack, p.at(i - i0) + skip / pack,
                                              p.row, 1, v.at((j0 + skip) / pack), v.row, y.at(i), y.row, j0 > first);
                             });
        }
        for (std::size_t r = 0; r < rows; ++r) {
            if (l[r] == 0) {  // no score above -inf
                if (!shape.sees_any(b, h, i0 + r)) {
                    see_nothing(shape, b, h, i0 + r, v_in, y.at(i0 + r));
                    lse[i0 + r] = std::numeric_limits<T>::infinity();  // so that every weight is 0 in backward
                    continue;
                }
                l[r] = std::numeric_limits<T>::quiet_NaN();
            }
            simd_map(dv, y.at(i0 + r), {y.at(i0 + r)}, [f = Vec<T>(T{1} / l[r])](auto x) { return x * f; });
            lse[i0 + r] = m[r] + portable::log(l[r]) / factor;
        }
    }
}

// Sums over queries: adds A B to rows [0, old) of C, and sets rows [old, n) to A B. A is stored by columns.
template <class E, class T>
void add_product(std::size_t old, std::size_t n, std::size_t width, std::size_t depth, const HeadMatrix<const E>& a,
                 const HeadMatrix<const E>& b, const HeadMatrix<T>& c) {
    old = std::min(old, n);
    tile_product(old, width, depth, a.data, 1, a.row, b.data, b.row, c.data, c.row, true);
    tile_product(n - old, width, depth, a.data + old, 1, a.row, b.data, b.row, c.at(old), c.row, false);
}

// Computes the gradient of one query head, and adds to the gradients of its keys and values. The scratch memory holds
// the transposed keys and values; `pieces` hands out the rest of it. k2 holds the keys, packed as a right operand.
template <class Operands, class T, class E>
void backward_head(const AttentionShape<T>& shape, std::size_t b, std::size_t h, const HeadMatrix<const E>& q,
                   const HeadMatrix<const E>& k2, const HeadMatrix<const E>& y, const HeadMatrix<const T>& dy,
                   const T* lse, const HeadMatrix<T>& dq, const HeadMatrix<T>& dk, const HeadMatrix<T>& dvalue,
                   const Scratch<T>& scratch, ScratchPieces<E> pieces) {
    constexpr std::size_t pack = Operands::kPack;
    const std::size_t d = shape.d, dv = shape.dv, Lq = shape.Lq, Lk = shape.Lk, score_row = shape.score_row();
    const auto right = [&](const auto& x, std::size_t n, std::size_t width) {
        return Operands::right(x, n, width, pieces.take((n + 1) / pack * width));
    };
    const auto g = Operands::natural(dy, Lq, dv, pieces.take(Lq * dv / pack));
    const auto q2 = right(q, Lq, d), g2 = right(g, Lq, dv);
    E *const block = pieces.take(kRows * kKeys / pack), *const block2 = pieces.take(kRows * kKeys / pack);
    const auto ld = static_cast<std::ptrdiff_t>(whole_vectors<T>(Lk)), lds = static_cast<std::ptrdiff_t>(score_row);
    const E *const kt = reinterpret_cast<const E*>(scratch.kt), *const vt = reinterpret_cast<const E*>(scratch.vt);
    T *const p = scratch.s, *const dp = scratch.dp;
    const bool dropping = shape.options.dropout > 0;
    const Vec<T> scale(shape.scale);
    // The outer loop is over keys, so that dK and dV of a block stay in L2 while all queries add to them.
    for (std::size_t j0 = 0; j0 < Lk; j0 += kKeys) {
        for (std::size_t i0 = 0; i0 < Lq; i0 += kRows) {
            const std::size_t i1 = std::min(Lq, i0 + kRows), rows = i1 - i0, seen = shape.seen(i1);
            if (seen <= j0 || shape.first_block(i0) > j0) continue;
            const std::size_t seen_before = i0 > 0 ? shape.seen(i0) : 0;  // keys that already have a gradient
            for (std::size_t i = i0; i < i1; ++i) {                       // for D; the rows lie far apart
                for (std::size_t j = 0; j < dv / pack; j += 64 / sizeof(E)) __builtin_prefetch(y.at(i) + j);
            }
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0, columns = (n + pack - 1) / pack * pack;
            shape.for_strips(
                i0, i1, j0, j1, [&](std::size_t i, std::size_t count, std::size_t skip, std::size_t width) {
                    const std::size_t whole = whole_vectors<T>(width - skip), at = (i - i0) * score_row + skip;
                    tile_product(count, whole, d / pack, q.at(i), q.row, 1, kt + j0 + skip, ld, p + at, lds, false);
                    tile_product(count, whole, dv / pack, g.at(i), g.row, 1, vt + j0 + skip, ld, dp + at, lds, false);
                });
            for (std::size_t r = 0; r < rows; ++r) {
                const std::size_t i = i0 + r, end = shape.width(i, j0, j1), skip = shape.skipped(i, j0, end);
                const std::size_t width = end - skip;
                T *const pr = p + r * score_row + skip, *const dpr = dp + r * score_row + skip;
                const Vec<T> factor(shape.finish_scores(b, h, i, j0 + skip, width, pr)), norm(lse[i]);
                const Vec<T> D(Operands::dot(dy.at(i), y.at(i), dv));
                const auto gradient = [=](auto& x, auto& dx) {  // a score and dP become P and dS
                    x = portable::exp((x - norm) * factor);
                    dx = x * (dx - D) * scale;
                };
                if (dropping) {
                    T factors[kKeys];
                    shape.drop_factors(b, h, i, j0 + skip, width, factors);
                    const auto dropped_gradient = [=](auto& x, auto& dx, auto& f) {
                        dx *= f;
                        gradient(x, dx);
                        x *= f;  // the weight in the product with V
                    };
                    simd_update(width, dropped_gradient, pr, dpr, factors);
                } else {
                    simd_update(width, gradient, pr, dpr);
                }
                for (T* const row : {pr, dpr}) {
                    std::fill(row - skip, row, T{0});
                    std::fill(row + width, row - skip + columns, T{0});
                }
            }
            // Skips columns before the window of all these queries: they already have a gradient.
            const std::size_t left = i0 > 0 ? shape.aligned_skip(i0, j0, n) : 0;
            const std::size_t old = seen_before - std::min(seen_before, j0) - left;
            const auto p2 = Operands::stacked(Operands::natural(HeadMatrix<const T>{p, lds}, rows, columns, block),
                                              rows, columns, block2);
            const std::size_t pairs = (rows + pack - 1) / pack;
            add_product<E, T>(old, n - left, dv, pairs, {p2.data + left, p2.row}, {g2.at(i0 / pack), g2.row},
                              {dvalue.at(j0 + left), dvalue.row});
            const auto ds = Operands::natural(HeadMatrix<const T>{dp, lds}, rows, columns, block);
            const auto ds2 = Operands::stacked(ds, rows, columns, block2);
            add_product<E, T>(old, n - left, d, pairs, {ds2.data + left, ds2.row}, {q2.at(i0 / pack), q2.row},
                              {dk.at(j0 + left), dk.row});
            const bool add = j0 > shape.first_block(i0);
            shape.for_strips(i0, i1, j0, j1,
                             [&](std::size_t i, std::size_t count, std::size_t skip, std::size_t width) {
                                 tile_product(count, d, (width - skip + pack - 1) / pack, ds.at(i - i0) + skip / pack,
                                              ds.row, 1, k2.at((j0 + skip) / pack), k2.row, dq.at(i), dq.row, add);
                             });
        }
    }
    for (std::size_t j = 0; j < Lk; ++j) {  // keys that no query sees
        if (Lq > 0 && j >= shape.first_block(0) && j < shape.seen(Lq)) continue;
        std::fill_n(dk.at(j), d, T{0});
        std::fill_n(dvalue.at(j), dv, T{0});
    }
    for (std::size_t i = 0; i < Lq; ++i) {
        if (lse[i] != std::numeric_limits<T>::infinity()) continue;
        shape.for_even_weights(b, h, i, [&](std::size_t j, Vec<T> weight) {
            simd_map(dv, dvalue.at(j), {dvalue.at(j), dy.at(i)},
                     [weight](auto sum, auto of_y) { return sum + weight * of_y; });
        });
    }
}

// Sums dK and dV over heads first, first + step, ... of a group; body(head, dk, dvalue) computes them for one head. The
// order is that of sum_lanes, so the result equals, to the last bit, the gradient of keys repeated for each head.
template <class T, class Body>
void sum_group(const AttentionShape<T>& shape, std::size_t first, std::size_t step, const HeadMatrix<T>& dk,
               const HeadMatrix<T>& dvalue, T* room, const Body& body) {
    if (first + step >= shape.group()) return body(first, dk, dvalue);
    const auto width = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    const HeadMatrix<T> dk2{room, width(shape.d)}, dvalue2{room + shape.Lk * shape.d, width(shape.dv)};
    sum_group(shape, first, 2 * step, dk, dvalue, room, body);
    sum_group(shape, first + step, 2 * step, dk2, dvalue2, room + shape.Lk * (shape.d + shape.dv), body);
    for (std::size_t j = 0; j < shape.Lk; ++j) {
        add_row(shape.d, dk.at(j), dk2.at(j));
        add_row(shape.dv, dvalue.at(j), dvalue2.at(j));
    }
}

}  // namespace inkling

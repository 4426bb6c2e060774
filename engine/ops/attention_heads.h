// The passes of attention over one head; the formulas are in attention.cpp.
#pragma once

#include <cmath>

#include "engine/ops/attention.h"
#include "engine/ops/attention_forms.h"
#include "engine/simd.h"

namespace inkling {

constexpr std::size_t kRows = 32;   // queries at a time
constexpr std::size_t kKeys = 512;  // keys at a time

// What both passes share: sizes, and the scores of a block.
template <class T>
struct Plan {
    std::size_t B, H, Lq, Lk, d, dv;
    FusedAttention options;
    MaskArray mask;  // broadcast to (B, H, Lq, Lk), when there is one

    // From one row of a block of scores to the next: not a power of two, whose rows would share few places of the
    // cache.
    std::size_t score_row() const { return whole_vectors<T>(std::min(Lk, kKeys)) + Vec<T>::size; }
    // Keys that queries before `end` may see.
    std::size_t seen(std::size_t end) const { return options.causal ? end + Lk - Lq : Lk; }
    // Of keys [j0, j1), how many query i may see.
    std::size_t width(std::size_t i, std::size_t j0, std::size_t j1) const {
        return std::min(j1, std::max(j0, seen(i + 1))) - j0;
    }

    // Products q . k of row i with n keys from j0 become scores: scaled, less the distance, -inf in blocked places and
    // in those up to the next whole vector, whose number is returned.
    std::size_t finish_scores(std::size_t b, std::size_t h, std::size_t i, std::size_t j0, std::size_t n,
                              T* scores) const {
        const std::size_t whole = whole_vectors<T>(n);
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

// What one thread works in. The sizes are those of FloatForm, which no other form exceeds.
template <class T>
struct Scratch {
    Array<T> kt, vt, s, dp, packed;

    Scratch(const Plan<T>& p, bool backward)
        : kt({p.d, whole_vectors<T>(p.Lk)}),
          s({kRows, p.score_row()}),
          packed({(p.Lq + p.Lk) * (p.d + p.dv) * 2 + 4 * kRows * kKeys}) {
        if (!backward) return;
        vt = Array<T>({p.dv, whole_vectors<T>(p.Lk)}), dp = Array<T>({kRows, p.score_row()});
    }
};

// Hands out pieces of a thread's scratch for packed operands.
template <class E>
class Packing {
  public:
    template <class T>
    explicit Packing(Array<T>& memory) : next_(reinterpret_cast<E*>(memory.data())) {
        static_assert(sizeof(E) == sizeof(T));
    }
    E* take(std::size_t elements) {
        E* const piece = next_;
        next_ += (elements + 15) / 16 * 16;
        return piece;
    }

  private:
    E* next_;
};

// Where the operands of one head are kept for backward (FloatForm: they are already).
template <class E>
struct KeptPlaces {
    E *q, *k, *v;
};

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
        T m[kRows], l[kRows];
        std::fill_n(m, rows, -std::numeric_limits<T>::infinity());
        std::fill_n(l, rows, T{0});
        for (std::size_t j0 = 0; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0, depth = (n + pack - 1) / pack;
            tile_product(rows, n, d / pack, q.at(i0), q.row, 1, kt + j0, static_cast<std::ptrdiff_t>(ld), s, lds,
                         false);
            for (std::size_t r = 0; r < rows; ++r) {
                T* const row = s + r * score_row;
                const std::size_t width = plan.width(i0 + r, j0, j1);
                const std::size_t whole = plan.finish_scores(b, h, i0 + r, j0, width, row);
                const T top = std::max(m[r], simd_max(whole, row));
                if (top == -std::numeric_limits<T>::infinity()) {  // blocked; or NaN, which no maximum shows
                    if (has_nan(width, row)) l[r] = std::numeric_limits<T>::quiet_NaN();
                    std::fill_n(row, depth * pack, T{0});
                    continue;
                }
                simd_map(
                    whole, row, [vtop = Vec<T>(top)](auto x) { return xsimd::exp(x - vtop); }, row);
                const T shrink = std::exp(m[r] - top);
                l[r] = l[r] * shrink + simd_sum(
                                           whole, [](auto x) { return x; }, row);
                m[r] = top;
                if (whole < depth * pack) std::fill(row + whole, row + depth * pack, T{0});
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
            tile_product(rows, dv, depth, p.data, p.row, 1, v.at(j0 / pack), v.row, y.at(i0), y.row, j0 > 0);
        }
        for (std::size_t r = 0; r < rows; ++r) {
            check(l[r] > 0 || std::isnan(l[r]), "attention: query {} of batch {} may see no key: every place is masked",
                  i0 + r, b);
            simd_map(
                dv, y.at(i0 + r), [f = Vec<T>(T{1} / l[r])](auto x) { return x * f; }, y.at(i0 + r));
            lse[i0 + r] = m[r] + std::log(l[r]);
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
        for (std::size_t j0 = 0; j0 < seen; j0 += kKeys) {
            const std::size_t j1 = std::min(seen, j0 + kKeys), n = j1 - j0, columns = (n + pack - 1) / pack * pack;
            tile_product(rows, n, d / pack, q.at(i0), q.row, 1, kt + j0, ld, p, lds, false);
            tile_product(rows, n, dv / pack, g.at(i0), g.row, 1, vt + j0, ld, dp, lds, false);
            for (std::size_t r = 0; r < rows; ++r) {
                T *const pr = p + r * score_row, *const dpr = dp + r * score_row;
                const std::size_t i = i0 + r, width = plan.width(i, j0, j1);
                const Vec<T> norm(lse[i]);
                const std::size_t whole = plan.finish_scores(b, h, i, j0, width, pr);
                simd_map(
                    whole, pr, [norm](auto x) { return xsimd::exp(x - norm); }, pr);
                if (whole < columns) std::fill(pr + whole, pr + columns, T{0});
                T factors[kKeys];
                if (dropping) {
                    plan.drop_factors(b, h, i, j0, width, factors);
                    simd_map(
                        width, dpr, [](auto x, auto f) { return x * f; }, dpr, factors);
                }
                const Vec<T> D(Form::dot(dy.at(i), y.at(i), dv));
                simd_map(
                    whole, dpr, [=](auto prob, auto gradient) { return prob * (gradient - D) * scale; }, pr, dpr);
                std::fill(dpr + width, dpr + std::max(columns, width), T{0});
                if (dropping)
                    simd_map(
                        width, pr, [](auto x, auto f) { return x * f; }, pr, factors);  // as V met it
            }
            const std::size_t old = seen_before - std::min(seen_before, j0);
            const auto p2 =
                Form::stacked(Form::natural(Head<const T>{p, lds}, rows, columns, block), rows, columns, block2);
            const std::size_t pairs = (rows + pack - 1) / pack;
            add_product<E, T>(old, n, dv, pairs, p2, {g2.at(i0 / pack), g2.row}, {dvalue.at(j0), dvalue.row});
            const auto ds = Form::natural(Head<const T>{dp, lds}, rows, columns, block);
            const auto ds2 = Form::stacked(ds, rows, columns, block2);
            add_product<E, T>(old, n, d, pairs, ds2, {q2.at(i0 / pack), q2.row}, {dk.at(j0), dk.row});
            tile_product(rows, d, columns / pack, ds.data, ds.row, 1, k2.at(j0 / pack), k2.row, dq.at(i0), dq.row,
                         j0 > 0);
        }
    }
    for (std::size_t j = Lq > 0 ? plan.seen(Lq) : 0; j < Lk; ++j) {  // keys that no query sees
        std::fill_n(dk.at(j), d, T{0});
        std::fill_n(dvalue.at(j), dv, T{0});
    }
}

}  // namespace inkling

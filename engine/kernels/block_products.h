// y = W x for weights in quantized blocks (block_types.h), 16 rows at a time, with x rounded to 8 bits in blocks of 32:
//   x = s (x_0, x_1, ...)    y = sum over blocks: fma(d s, sum_i q_i x_i, y), and for blocks with a minimum fma(m, s
//   sum_i x_i, y)
// Sums of a block are integers and each row adds its blocks in order, so the bits do not depend on the CPU, on the rows
// nor on the number of vectors.
#pragma once

#include "engine/base/q8_block.h"
#include "engine/kernels/block_types.h"
#include "engine/kernels/group_lanes.h"

namespace inkling::row_group {

// A block of 32 numbers of N vectors, rounded.
template <std::size_t N>
struct RoundedBlock {
    std::int32_t x[8][N];       // four int8 each
    std::int32_t halves[2][N];  // minus the weights' offset times the sum of 16 numbers each
    std::int32_t whole[N];      // the same of all
    float scale[N], sum[N];     // s, and s times the sum of the numbers
};

template <std::size_t N>
void round_vectors(const float* x, std::size_t x_stride, std::size_t blocks, int offset, RoundedBlock<N>* out) {
    for (std::size_t n = 0; n < N; ++n) {
        for (std::size_t i = 0; i < blocks; ++i) {
            std::int8_t q[kQ8Block];
            RoundedBlock<N>& to = out[i];
            to.scale[n] = round_to_q8(x + n * x_stride + i * kQ8Block, q);
            std::int32_t sums[2] = {};
            for (std::size_t half = 0; half < 2; ++half)
                for (std::size_t k = 0; k < kQ8Block / 2; ++k) sums[half] += q[half * kQ8Block / 2 + k];
            for (std::size_t k = 0; k < 8; ++k) std::memcpy(&to.x[k][n], q + 4 * k, 4);
            for (std::size_t half = 0; half < 2; ++half) to.halves[half][n] = -offset * sums[half];
            to.whole[n] = to.halves[0][n] + to.halves[1][n];
            to.sum[n] = to.scale[n] * static_cast<float>(sums[0] + sums[1]);
        }
    }
}

// Products of blocks: they add to sum[n] the product of the rows from `lane` on with vector n. L is a vector of lanes,
// one row each; f points to the block's fields. kOffset is subtracted from all quants.

inline constexpr std::uint32_t kLow4 = 0x0F0F0F0F, kLow2 = 0x03030303, kLow1 = 0x01010101;

template <class L>
typename L::Ints ints(const std::byte* field, std::size_t unit, std::size_t lane) {
    return L::load(field + (unit * kRows + lane) * 4);
}
template <class L, std::size_t N>
void start_at(typename L::Ints (&sum)[N], const std::int32_t (&x)[N]) {
    for (std::size_t n = 0; n < N; ++n) sum[n] = L::all(x[n]);
}
template <class L, std::size_t N>
void dot_all(typename L::Ints (&sum)[N], const typename L::Ints& w, const std::int32_t (&x)[N]) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < N; ++n) L::dot(sum[n], w, &x[n]);
}
// sum += d s (the sum of integers)
template <class L, std::size_t N>
void add_scaled(typename L::Floats (&sum)[N], const typename L::Ints (&ints)[N], const typename L::Floats& d,
                const float (&scale)[N]) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < N; ++n) sum[n] = L::fma(L::to_float(ints[n]), L::product(d, L::all(scale[n])), sum[n]);
}
template <class L, std::size_t N>
void add_minimum(typename L::Floats (&sum)[N], const typename L::Floats& m, const float (&x)[N]) {
#pragma GCC unroll 8
    for (std::size_t n = 0; n < N; ++n) sum[n] = L::fma(m, L::all(x[n]), sum[n]);
}

// Q4_0, Q4_1, Q5_0, Q5_1
template <bool kMinimum, bool kFive>
struct LegacyProduct {
    static constexpr std::size_t numbers = 32, bits_at = kMinimum ? 2 : 1, quants_at = bits_at + kFive;
    static constexpr BlockFields fields = [] {
        BlockFields all{{{0, 2, 1}}};
        if (kMinimum) all[1] = {2, 2, 1};
        if (kFive) all[bits_at] = {kMinimum ? 4 : 2, 4, 1};
        all[quants_at] = {(kMinimum ? 4 : 2) + (kFive ? 4 : 0), 4, 4};
        return all;
    }();
    template <class L>
    static constexpr int offset = kMinimum ? 0
                                  : kFive  ? 16
                                           : 8;
    // Bits [at, at + 4) of each lane, as the fifth bits of four bytes.
    template <class L>
    static typename L::Ints fifth(const typename L::Ints& bits, unsigned at) {
        return L::left(L::mask(L::times(L::mask(L::right(bits, at), 15), 0x00204081), kLow1), 4);
    }
    template <class L, std::size_t N>
    static void add(const std::byte* const (&f)[5], std::size_t lane, const RoundedBlock<N>* x,
                    typename L::Floats (&sum)[N]) {
        typename L::Ints whole[N], bits = L::all(0);
        start_at<L>(whole, x->whole);
        if constexpr (kFive) bits = ints<L>(f[bits_at], 0, lane);
#pragma GCC unroll 4
        for (unsigned k = 0; k < 4; ++k) {
            const auto both = ints<L>(f[quants_at], k, lane);
            auto low = L::mask(both, kLow4), high = L::mask(L::right(both, 4), kLow4);
            if constexpr (kFive) {
                low = L::either(low, fifth<L>(bits, 4 * k));
                high = L::either(high, fifth<L>(bits, 16 + 4 * k));
            }
            dot_all<L>(whole, low, x->x[k]);
            dot_all<L>(whole, high, x->x[4 + k]);
        }
        add_scaled<L>(sum, whole, L::halves(f[0] + 2 * lane), x->scale);
        if constexpr (kMinimum) add_minimum<L>(sum, L::halves(f[1] + 2 * lane), x->sum);
    }
};

struct Q8Product {
    static constexpr std::size_t numbers = 32;
    static constexpr BlockFields fields{{{0, 2, 1}, {2, 4, 8}}};
    template <class L>
    static constexpr int offset = L::signed_offset;
    template <class L, std::size_t N>
    static void add(const std::byte* const (&f)[5], std::size_t lane, const RoundedBlock<N>* x,
                    typename L::Floats (&sum)[N]) {
        typename L::Ints whole[N];
        start_at<L>(whole, x->whole);
#pragma GCC unroll 8
        for (unsigned k = 0; k < 8; ++k) {
            const auto w = L::as_signed(ints<L>(f[1], k, lane));
#pragma GCC unroll 8
            for (std::size_t n = 0; n < N; ++n) L::dot_signed(whole[n], w, &x->x[k][n]);
        }
        add_scaled<L>(sum, whole, L::halves(f[0] + 2 * lane), x->scale);
    }
};

// Q4_K, Q5_K
template <bool kFive>
struct KProduct {
    static constexpr std::size_t numbers = 256, quants_at = kFive ? 4 : 3;
    static constexpr BlockFields fields = [] {
        BlockFields all{{{0, 2, 1}, {2, 2, 1}, {4, 4, 3}, {16, 4, 8}}};
        all[quants_at] = {kFive ? 48 : 16, 4, 32};
        return all;
    }();
    template <class L>
    static constexpr int offset = 0;
    template <class L, std::size_t N>
    static void add(const std::byte* const (&f)[5], std::size_t lane, const RoundedBlock<N>* x,
                    typename L::Floats (&sum)[N]) {
        using Ints = typename L::Ints;
        constexpr std::uint32_t kLow6 = 0x3F3F3F3F;
        const auto d = L::halves(f[0] + 2 * lane), below = L::product(L::halves(f[1] + 2 * lane), L::all(-1.0f));
        const Ints packed[3] = {ints<L>(f[2], 0, lane), ints<L>(f[2], 1, lane), ints<L>(f[2], 2, lane)};
        const auto high = [&](const Ints& low4, unsigned of) {
            return L::either(low4, L::left(L::mask(L::right(packed[of], 6), kLow2), 4));
        };
        const Ints scales[2] = {L::mask(packed[0], kLow6), high(L::mask(packed[2], kLow4), 0)};
        const Ints minima[2] = {L::mask(packed[1], kLow6), high(L::mask(L::right(packed[2], 4), kLow4), 1)};
        const auto byte = [](const Ints& four, unsigned i) { return L::to_float(L::mask(L::right(four, 8 * i), 255)); };
        for (unsigned j = 0; j < 8; ++j, ++x) {
            Ints whole[N];
            for (Ints& sums : whole) sums = L::all(0);
#pragma GCC unroll 8
            for (unsigned k = 0; k < 8; ++k) {
                Ints w = L::mask(L::right(ints<L>(f[quants_at], j / 2 * 8 + k, lane), j % 2 * 4), kLow4);
                if constexpr (kFive) w = L::either(w, L::left(L::mask(L::right(ints<L>(f[3], k, lane), j), kLow1), 4));
                dot_all<L>(whole, w, x->x[k]);
            }
            add_scaled<L>(sum, whole, L::product(d, byte(scales[j / 4], j % 4)), x->scale);
            add_minimum<L>(sum, L::product(below, byte(minima[j / 4], j % 4)), x->sum);
        }
    }
};

struct Q6KProduct {
    static constexpr std::size_t numbers = 256;
    static constexpr BlockFields fields{{{0, 4, 32}, {128, 4, 16}, {192, 4, 4}, {208, 2, 1}}};
    template <class L>
    static constexpr int offset = 32;
    template <class L, std::size_t N>
    static void add(const std::byte* const (&f)[5], std::size_t lane, const RoundedBlock<N>* x,
                    typename L::Floats (&sum)[N]) {
        using Ints = typename L::Ints;
        const auto d = L::halves(f[3] + 2 * lane);
        for (unsigned j = 0; j < 8; ++j, ++x) {
            const unsigned part = j / 4, quarter = j % 4;
            const Ints scales = ints<L>(f[2], j / 2, lane);  // of blocks of 16 numbers
            for (unsigned half = 0; half < 2; ++half) {
                Ints whole[N];
                start_at<L>(whole, x->halves[half]);
#pragma GCC unroll 4
                for (unsigned k = 4 * half; k < 4 * half + 4; ++k) {
                    const Ints low = L::right(ints<L>(f[0], part * 16 + quarter % 2 * 8 + k, lane), quarter / 2 * 4);
                    const Ints high = L::right(ints<L>(f[1], part * 8 + k, lane), quarter * 2);
                    dot_all<L>(whole, L::either(L::mask(low, kLow4), L::left(L::mask(high, kLow2), 4)), x->x[k]);
                }
                const auto scale = L::arithmetic_right(L::left(scales, 24 - 8 * (j % 2 * 2 + half)), 24);
                add_scaled<L>(sum, whole, L::product(d, L::to_float(scale)), x->scale);
            }
        }
    }
};

// Runs a product with N vectors, and prefetches the weights `ahead` of those that it reads.
template <class L, class Product, std::size_t N, class Ahead>
void run_ahead(const GroupProduct& work, Ahead ahead) {
    constexpr std::size_t kStep = Product::numbers / kQ8Block;
    constexpr BlockFields fields = Product::fields;
    for (std::size_t lane = 0; lane < kRows; lane += L::lanes) {
        typename L::Floats sum[N];
        for (std::size_t n = 0; n < N; ++n)
            sum[n] = work.accumulate ? L::load_floats(work.y + n * kRows + lane) : L::all(0.0f);
        const std::byte* f[fields.size()] = {};
        const std::byte* region = work.group;
#pragma GCC unroll 5
        for (std::size_t i = 0; i < fields.size(); ++i) {
            f[i] = region + work.first / kStep * fields[i].group_bytes();
            region += work.blocks * fields[i].group_bytes();
        }
        const auto* x = static_cast<const RoundedBlock<N>*>(work.x);
        for (std::size_t block = work.first; block < work.last; block += kStep, x += kStep) {
            Product::template add<L, N>(f, lane, x, sum);
#pragma GCC unroll 5
            for (std::size_t i = 0; i < fields.size(); ++i) {
                for (std::size_t at = 0; at < fields[i].group_bytes() && N == 1 && lane == 0; at += 64)
                    __builtin_prefetch(f[i] + ahead + at, 0, 2);
                f[i] += fields[i].group_bytes();
            }
        }
        for (std::size_t n = 0; n < N; ++n) L::store(work.y + n * kRows + lane, sum[n]);
    }
}

// Prefetches the next group's weights, each field's by itself, because the CPU's own prefetching stops at each page; in
// a short group those at a distance that is constant, of which GCC makes a faster loop.
template <class L, class Product, std::size_t N>
void run_group(const GroupProduct& work) {
    constexpr std::integral_constant<std::size_t, 8192> kAhead;
    const std::size_t group = work.blocks * kRows * block_bytes(Product::fields);
    N == 1 && group > kAhead ? run_ahead<L, Product, N>(work, group) : run_ahead<L, Product, N>(work, kAhead);
}

template <class L, class Product>
constexpr BlockKernel block_kernel() {
    BlockKernel kernel{Product::template offset<L>,
                       L::most,
                       {run_group<L, Product, 1>, run_group<L, Product, 2>, run_group<L, Product, 4>}};
    if constexpr (L::most == 8) kernel.run[3] = run_group<L, Product, 8>;
    return kernel;
}

}  // namespace inkling::row_group

#include "models/inference/cached_attention.h"

#include <algorithm>

#include "engine/kernels/half_row.h"
#include "engine/kernels/lanes.h"

namespace inkling::models {
namespace {

constexpr std::size_t W = Vec<float>::size, kVectors = Lanes<float>::vectors;
constexpr std::size_t kAhead = 8192;            // prefetches so many bytes ahead: the CPU's own is late
constexpr std::size_t kBlockBytes = 8192;       // of values that stay in L1 while all queries and columns go over them
constexpr std::size_t kTile = W == 16 ? 8 : 4;  // products of a query and a key whose sums fit into registers
constexpr std::size_t kColumnVectors = W == 8 ? 2 : 4;  // the same for values, of two queries

template <class E>
struct TypedRows {
    const E* data;
    std::size_t stride;
    const E* at(std::size_t row) const { return data + row * stride; }
};

// Calls body with the rows as TypedRows of the type that the cache stores.
template <class Body>
void with_type(CachedRows rows, std::size_t d, const Body& body) {
    if (rows.type == CacheType::f16)
        return body(TypedRows<std::uint16_t>{static_cast<const std::uint16_t*>(rows.data), (d + 1) / 2 * 2});
    body(TypedRows<float>{static_cast<const float*>(rows.data), d});
}

template <class E>
inline void prefetch(const E* p, std::size_t ahead) {
    __builtin_prefetch(reinterpret_cast<const char*>(p) + ahead, 0, 2);
}

// Loads a vector that several products use. Without the asm, GCC lets each product read it again.
inline Vec<float> in_register(const float* p) {
    Vec<float> v = Vec<float>::load_unaligned(p);
#ifdef __x86_64__
    asm("" : "+v"(v.data));
#endif
    return v;
}

// out[g][k] = the sums of q[g] . key[k] lane by lane, bit for bit those of simd_partial_sums.
template <std::size_t G, std::size_t K, bool kFirst, class E>
inline void dot_tile(std::size_t d, const float* q, const E* const* keys, Native<float>* const (&out)[G]) {
    constexpr std::size_t L = Lanes<float>::size;
    Vec<float> sums[2][G][K][kVectors];
    for (auto& half : sums)
        for (auto& of_query : half)
            for (auto& of_key : of_query) std::fill_n(of_key, kVectors, Vec<float>(0.0f));
    const auto add = [&](std::size_t i, auto& to) {
#pragma GCC unroll 4
        for (std::size_t p = 0; p < kVectors; ++p) {
            Vec<float> queries[G];
#pragma GCC unroll 2
            for (std::size_t g = 0; g < G; ++g) queries[g] = in_register(q + g * d + i + p * W);
#pragma GCC unroll 8
            for (std::size_t k = 0; k < K; ++k) {
                const Vec<float> key = load_whole(keys[k] + i + p * W);
                if (kFirst) prefetch(keys[k] + i + p * W, kAhead);
#pragma GCC unroll 2
                for (std::size_t g = 0; g < G; ++g) to[g][k][p] = multiply_add(queries[g], key, to[g][k][p]);
            }
        }
    };
    std::size_t i = 0;
    for (; i + 2 * L <= d; i += 2 * L) add(i, sums[0]), add(i + L, sums[1]);
    if (i + L <= d) add(i, sums[0]), i += L;
    if (i < d) {
#pragma GCC unroll 4
        for (std::size_t p = 0; p < kVectors; ++p) {
            const std::size_t at = std::min(d, i + p * W), n = std::min(W, d - at);
#pragma GCC unroll 8
            for (std::size_t k = 0; k < K; ++k) {
                const Vec<float> key = load_part(keys[k] + at, n);
#pragma GCC unroll 2
                for (std::size_t g = 0; g < G; ++g) {
                    Vec<float>& sum = sums[1][g][k][p];
                    sum = replace_part(sum, multiply_add(load_part(q + g * d + at, n), key, sum), n);
                }
            }
        }
    }
#pragma GCC unroll 2
    for (std::size_t g = 0; g < G; ++g)
#pragma GCC unroll 8
        for (std::size_t k = 0; k < K; ++k) {
            Lanes<float> all(0.0f);
            for (std::size_t p = 0; p < kVectors; ++p) all.v[p] = sums[0][g][k][p] + sums[1][g][k][p];
            out[g][k] = fold_vectors(all, [](const auto& a, const auto& b) { return a + b; });
        }
}

// Scores of G queries with W keys. The keys from `rows` on are copies of the last real one.
template <std::size_t G, bool kFirst, class E>
inline void score_block(const HeadShape& head, const float* q, const E* const (&keys)[W], std::size_t rows, float scale,
                        float* scores) {
    constexpr std::size_t K = std::max<std::size_t>(1, kTile / G);
    Native<float> sums[G][W];
    for (std::size_t k = 0; k < W; k += K) {
        Native<float>* to[G];
        for (std::size_t g = 0; g < G; ++g) to[g] = sums[g] + k;
        dot_tile<G, K, kFirst>(head.size, q, keys + k, to);
    }
    for (std::size_t g = 0; g < G; ++g) {
        const auto all = sums_of_lanes<float>(sums[g], std::make_integer_sequence<int, static_cast<int>(W)>{});
        store_part(scores + g * head.stride, Vec<float>(scale) * from_native<float>(all), rows);
    }
}

// Adds to row 2 g of sums the products weights[g][j] values[j, i] of all even j, and to row 2 g + 1 those of odd j,
// for G queries and N vectors of columns, which load(p) reads.
template <std::size_t G, std::size_t N, bool kFirst, class E, class Load>
inline void add_rows(const float* weights, std::size_t stride, TypedRows<E> values, std::size_t rows, float* sums,
                     std::size_t width, const Load& load) {
    Vec<float> all[2][G][N];
    const auto each = [&](const auto& body) {
#pragma GCC unroll 2
        for (std::size_t odd = 0; odd < 2; ++odd)
#pragma GCC unroll 2
            for (std::size_t g = 0; g < G; ++g)
#pragma GCC unroll 4
                for (std::size_t k = 0; k < N; ++k) body(all[odd][g][k], sums + (2 * g + odd) * width + k * W);
    };
    each([](Vec<float>& sum, const float* at) { sum = Vec<float>::load_aligned(at); });
    const auto add = [&](std::size_t j, Vec<float>(&to)[G][N]) {
        const E* const row = values.at(j);
#pragma GCC unroll 4
        for (std::size_t k = 0; k < N; ++k) {
            const Vec<float> value = load(row + k * W);
            if (kFirst) prefetch(row + k * W, kBlockBytes);
#pragma GCC unroll 2
            for (std::size_t g = 0; g < G; ++g)
                to[g][k] = multiply_add(Vec<float>(weights[g * stride + j]), value, to[g][k]);
        }
    };
    std::size_t j = 0;
    for (; j + 2 <= rows; j += 2) add(j, all[0]), add(j + 1, all[1]);
    if (j < rows) add(j, all[0]);
    each([](const Vec<float>& sum, float* at) { sum.store_aligned(at); });
}

// The same for columns [first, last).
template <std::size_t G, bool kFirst, class E>
void add_block(const float* weights, std::size_t stride, TypedRows<E> values, std::size_t rows, std::size_t first,
               std::size_t last, float* sums, std::size_t width) {
    for (std::size_t i = first; i < last;) {
        const std::size_t left = last - i;
        const auto columns = [&](auto N, const auto& load) {
            add_rows<G, N, kFirst>(weights, stride, TypedRows<E>{values.data + i, values.stride}, rows, sums + i, width,
                                   load);
            i += N * W;
        };
        const auto whole = [](const E* p) { return load_whole(p); };
        if (left >= kColumnVectors * W) {
            columns(std::integral_constant<std::size_t, kColumnVectors>{}, whole);
        } else if (left >= W) {
            columns(std::integral_constant<std::size_t, 1>{}, whole);
        } else {
            columns(std::integral_constant<std::size_t, 1>{}, [left](const E* p) { return load_part(p, left); });
        }
    }
}

// Calls body(first, count, is_first) for two queries at a time, which share one read of keys and values, or one.
template <class Body>
void each_pair(std::size_t queries, const Body& body) {
    std::size_t g = 0;
    constexpr std::integral_constant<std::size_t, 1> one;
    constexpr std::integral_constant<std::size_t, 2> two;
    queries == 1 ? body(0, one, std::true_type{}) : body(0, two, std::true_type{});
    for (g = 2; g + 2 <= queries; g += 2) body(g, two, std::false_type{});
    if (g < queries) body(g, one, std::false_type{});
}

}  // namespace

void attention_scores(const HeadShape& head, const float* q, CachedRows keys, std::size_t begin, std::size_t end,
                      float scale, float* scores) {
    with_type(keys, head.size, [&]<class E>(TypedRows<E> typed) {
        for (std::size_t j = begin; j < end; j += W) {
            const std::size_t rows = std::min(W, end - j);
            const E* block[W];
            for (std::size_t r = 0; r < W; ++r) block[r] = typed.at(j + std::min(r, rows - 1));
            each_pair(head.queries, [&](std::size_t g, auto G, auto first) {
                score_block<G, first>(head, q + g * head.size, block, rows, scale, scores + g * head.stride + j);
            });
        }
    });
}

void attention_values(const HeadShape& head, const float* scores, std::size_t n, CachedRows values, std::size_t begin,
                      std::size_t end, float* room, float* y) {
    const std::size_t G = head.queries, width = whole_lines(head.size);
    float *const sums = room, *const weights = sums + 2 * G * width;
    std::fill_n(sums, 2 * G * width, 0.0f);
    for (std::size_t g = 0; g < G; ++g) {
        const float* const s = scores + g * head.stride;
        simd_map(n, weights + g * head.stride, {s},
                 [top = Vec<float>(simd_max(n, s))](auto v) { return portable::exp(v - top); });
    }
    with_type(values, head.size, [&]<class E>(TypedRows<E> typed) {
        const std::size_t most = std::max<std::size_t>(2, kBlockBytes / (typed.stride * sizeof(E)) / 2 * 2);  // even
        for (std::size_t j = 0; j < n; j += most) {
            const std::size_t rows = std::min(n - j, most);
            each_pair(G, [&](std::size_t g, auto queries, auto first) {
                add_block<queries, first>(weights + g * head.stride + j, head.stride,
                                          TypedRows<E>{typed.at(j), typed.stride}, rows, begin, end,
                                          sums + 2 * g * width, width);
            });
        }
    });
    for (std::size_t g = 0; g < G; ++g) {
        const Vec<float> inverse(1.0f / simd_sum(n, weights + g * head.stride));
        const float* const sum = sums + 2 * g * width + begin;
        simd_map(end - begin, y + g * head.size + begin, {sum, sum + width},
                 [=](auto even, auto odd) { return (even + odd) * inverse; });
    }
}

}  // namespace inkling::models

// Products inside one thread whose factors may be anywhere in memory: convolutions read windows where they are.
//   C[r][j] (+)= bias[r] + sum over steps s of a[r][steps.a[s]] b[steps.b[s] + j]
// An element adds its steps in order, so its bits do not depend on the width of vectors.
#pragma once

#include <array>
#include <vector>

#include "engine/kernels/tile_product.h"

namespace inkling {

struct Steps {
    std::vector<std::ptrdiff_t> a, b;
};

// Reads whole vectors of b and writes `width` columns of C; a sum that goes on in C needs whole vectors there.
template <class T>
struct GatheredProduct {
    std::ptrdiff_t rows, width;
    const T* const* a;
    const T* b;
    T* c;
    std::ptrdiff_t c_row;
    const T* bias = nullptr;  // (rows), or none
    bool accumulate = false;

    // Only the first `count` steps.
    void run(const Steps& steps, std::size_t count) const {
        constexpr auto tiles = all_tiles(std::make_index_sequence<R * V>{});
        const std::ptrdiff_t vectors = (width + W - 1) / W, across = (vectors + V - 1) / V, down = (rows + R - 1) / R;
        for (std::ptrdiff_t i = 0; i < across * down; ++i) {  // tiles of even sizes: the sums of a small one wait
            const std::ptrdiff_t j = i / down, r = rows * (i % down) / down, v = vectors * j / across;
            const std::ptrdiff_t high = rows * (i % down + 1) / down - r, wide = vectors * (j + 1) / across - v;
            (this->*tiles[static_cast<std::size_t>((high - 1) * V + wide - 1)])(steps, count, r, v * W);
        }
    }

  private:
    static constexpr std::ptrdiff_t W = Vec<T>::size, R = Tile<T>::rows, V = Tile<T>::vectors;
    using OneTile = void (GatheredProduct::*)(const Steps&, std::size_t, std::ptrdiff_t, std::ptrdiff_t) const;

    template <std::size_t... I>
    static constexpr std::array<OneTile, sizeof...(I)> all_tiles(std::index_sequence<I...>) {
        return {&GatheredProduct::tile<I / V + 1, I % V + 1>...};
    }

    template <std::ptrdiff_t MR, std::ptrdiff_t NV>
    void tile(const Steps& steps, std::size_t count, std::ptrdiff_t r0, std::ptrdiff_t j0) const {
        Vec<T> sum[MR][NV];
        const T* from[MR];
        T* const to = c + r0 * c_row + j0;
#pragma GCC unroll 16
        for (std::ptrdiff_t r = 0; r < MR; ++r) {
            from[r] = a[r0 + r];
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v < NV; ++v) {
                sum[r][v] = Vec<T>(bias ? bias[r0 + r] : T{0});
                if (accumulate) sum[r][v] += Vec<T>::load_unaligned(to + r * c_row + v * W);
            }
        }
        const std::ptrdiff_t *at_a = steps.a.data(), *at_b = steps.b.data();
        for (const std::ptrdiff_t* const end = at_a + count; at_a != end; ++at_a, ++at_b) {
            Vec<T> x[NV];
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v < NV; ++v) x[v] = Vec<T>::load_unaligned(b + *at_b + j0 + v * W);
#pragma GCC unroll 16
            for (std::ptrdiff_t r = 0; r < MR; ++r) {
                const Vec<T> factor(from[r][*at_a]);
#pragma GCC unroll 16
                for (std::ptrdiff_t v = 0; v < NV; ++v) sum[r][v] = multiply_add(factor, x[v], sum[r][v]);
            }
        }
        const std::ptrdiff_t last = std::min(W, width - j0 - (NV - 1) * W);  // columns of the last vector
#pragma GCC unroll 16
        for (std::ptrdiff_t r = 0; r < MR; ++r) {
            T* const row = to + r * c_row;
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v + 1 < NV; ++v) sum[r][v].store_unaligned(row + v * W);
            if (last == W) {
                sum[r][NV - 1].store_unaligned(row + (NV - 1) * W);
            } else {
                store_part(row + (NV - 1) * W, sum[r][NV - 1], static_cast<std::size_t>(last));
            }
        }
    }
};

}  // namespace inkling

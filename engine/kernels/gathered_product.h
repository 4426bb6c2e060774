// Products inside one thread whose factors may be anywhere in memory: convolutions read windows where they are.
//   C[r][j] (+)= bias[r] + sum over steps s of a[r][steps.a[s]] b[steps.b[s] + j]
// An element adds its steps in order, so its bits do not depend on the width of vectors.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "engine/kernels/tile_product.h"

namespace inkling {

struct Steps {
    struct Step {
        std::ptrdiff_t a, b;
    };
    std::vector<Step> all;
    void add(std::ptrdiff_t a, std::ptrdiff_t b) { all.push_back({a, b}); }
};

// Where the vectors of the columns are in b and in C, and how many columns each has.
template <class T>
struct Columns {
    struct Vector {
        std::ptrdiff_t b, c, width;
    };
    std::vector<Vector> all;
    void add(std::ptrdiff_t b, std::ptrdiff_t c, std::ptrdiff_t width) {
        constexpr std::ptrdiff_t W = Vec<T>::size;
        for (std::ptrdiff_t j = 0; j < width; j += W) all.push_back({b + j, c + j, std::min(W, width - j)});
    }
};

// Reads whole vectors of b and writes the columns of C; a sum that goes on in C needs whole vectors there.
template <class T>
struct GatheredProduct {
    std::ptrdiff_t rows;
    const T* const* a;
    const T* b;
    T* c;
    std::ptrdiff_t c_row;
    const T* bias = nullptr;  // (rows), or none
    bool accumulate = false;

    // Only the first `count` steps and the first `vectors`.
    void run(const Steps& steps, std::size_t count, const Columns<T>& columns, std::ptrdiff_t vectors) const {
        constexpr auto tiles = all_tiles(std::make_index_sequence<R * V>{});
        const std::ptrdiff_t across = (vectors + V - 1) / V, down = (rows + R - 1) / R;
        for (std::ptrdiff_t i = 0; i < across * down; ++i) {  // tiles of even sizes: the sums of a small one wait
            const std::ptrdiff_t j = i / down, r = rows * (i % down) / down, v = vectors * j / across;
            const std::ptrdiff_t high = rows * (i % down + 1) / down - r, wide = vectors * (j + 1) / across - v;
            (this->*tiles[static_cast<std::size_t>((high - 1) * V + wide - 1)])(steps, count, r,
                                                                                columns.all.data() + v);
        }
    }

  private:
    static constexpr std::ptrdiff_t W = Vec<T>::size, R = Tile<T>::rows, V = Tile<T>::vectors;
    using Vector = typename Columns<T>::Vector;
    using OneTile = void (GatheredProduct::*)(const Steps&, std::size_t, std::ptrdiff_t, const Vector*) const;

    template <std::size_t... I>
    static constexpr std::array<OneTile, sizeof...(I)> all_tiles(std::index_sequence<I...>) {
        return {&GatheredProduct::tile<I / V + 1, I % V + 1>...};
    }

    template <std::ptrdiff_t MR, std::ptrdiff_t NV>
    void tile(const Steps& steps, std::size_t count, std::ptrdiff_t r0, const Vector* vectors) const {
        Vec<T> sum[MR][NV];
        const T *from[MR], *column[NV];
        T* const to = c + r0 * c_row;
#pragma GCC unroll 16
        for (std::ptrdiff_t v = 0; v < NV; ++v) column[v] = b + vectors[v].b;
#pragma GCC unroll 16
        for (std::ptrdiff_t r = 0; r < MR; ++r) {
            from[r] = a[r0 + r];
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v < NV; ++v) {
                sum[r][v] = Vec<T>(bias ? bias[r0 + r] : T{0});
                if (accumulate) sum[r][v] += Vec<T>::load_unaligned(to + r * c_row + vectors[v].c);
            }
        }
        for (const Steps::Step *at = steps.all.data(), *const end = at + count; at != end; ++at) {
            Vec<T> x[NV];
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v < NV; ++v) x[v] = Vec<T>::load_unaligned(column[v] + at->b);
#pragma GCC unroll 16
            for (std::ptrdiff_t r = 0; r < MR; ++r) {
                const Vec<T> factor(from[r][at->a]);
#pragma GCC unroll 16
                for (std::ptrdiff_t v = 0; v < NV; ++v) sum[r][v] = multiply_add(factor, x[v], sum[r][v]);
            }
        }
#pragma GCC unroll 16
        for (std::ptrdiff_t r = 0; r < MR; ++r) {
#pragma GCC unroll 16
            for (std::ptrdiff_t v = 0; v < NV; ++v) {
                T* const place = to + r * c_row + vectors[v].c;
                if (vectors[v].width == W)
                    sum[r][v].store_unaligned(place);
                else
                    store_part(place, sum[r][v], static_cast<std::size_t>(vectors[v].width));
            }
        }
    }
};

}  // namespace inkling

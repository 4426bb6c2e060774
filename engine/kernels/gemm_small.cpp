// Products that fit L1, on this thread. Operands that are not dense rows of the result's type are unpacked to the
// layout of the register tiles of tile_product.h.
#include "engine/kernels/gemm_kernels.h"

namespace inkling::kernels {
namespace {

// Unpacks (rows, columns) to dense rows, `ld` apart; the rest of each row becomes 0.
template <class Format, class In, class T>
void unpack(const In* x, std::ptrdiff_t row, std::ptrdiff_t col, std::size_t rows, std::size_t columns, T* out,
            std::size_t ld) {
    if constexpr (std::is_same_v<Format, Full<In>>) {
        if (row == 1) return transpose_into(x, col, columns, rows, out, ld);
    }
    for (std::size_t i = 0; i < rows; ++i) {
        const In* const from = x + static_cast<std::ptrdiff_t>(i) * row;
        for (std::size_t j = 0; j < columns; ++j) {
            out[i * ld + j] = Format::convert(from[static_cast<std::ptrdiff_t>(j) * col]);
        }
        std::fill(out + i * ld + columns, out + (i + 1) * ld, T{0});
    }
}

}  // namespace

template <class Format, class A, class B>
void small(const GemmShape& p, const A* a, const B* b, typename Format::Result* c, bool accumulate,
           const typename Format::Result* bias) {
    using T = typename Format::Result;
    constexpr bool full = std::is_same_v<Format, Full<T>>;
    const std::size_t ld = whole_vectors<T>(p.n);
    const bool dense_b = full && p.b_col == 1 && ld == p.n;
    const bool direct = p.c_col == 1 && ld == p.n;  // straight into C
    thread_local std::vector<T> scratch;
    scratch.resize(ld * (p.k + p.m) + p.m * p.k);
    T *const unpacked_b = scratch.data(), *const product = unpacked_b + ld * p.k,
             *const unpacked_a = product + ld * p.m;
    for (std::size_t i = 0; i < p.batches(); ++i) {
        const A* const ai = a + p.batch_offset(0, i);
        const B* const bi = b + p.batch_offset(1, i);
        T* const ci = c + p.batch_offset(2, i);
        const T *left = unpacked_a, *right = unpacked_b;
        std::ptrdiff_t a_row = static_cast<std::ptrdiff_t>(p.k), a_col = 1, b_row = static_cast<std::ptrdiff_t>(ld);
        if constexpr (full) {
            left = ai, a_row = p.a_row, a_col = p.a_col;
            if (dense_b) right = bi, b_row = p.b_row;
        } else {
            unpack<Format>(ai, p.a_row, p.a_col, p.m, p.k, unpacked_a, p.k);
        }
        if (!dense_b) unpack<Format>(bi, p.b_row, p.b_col, p.k, p.n, unpacked_b, ld);
        // Products are added to C in the order of K, with the same bits as in the other kernels.
        T* const to = direct ? ci : product;
        const std::ptrdiff_t row = direct ? p.c_row : static_cast<std::ptrdiff_t>(ld);
        const auto place = [&](std::size_t r, std::size_t j) -> T& {
            return ci[static_cast<std::ptrdiff_t>(r) * p.c_row + static_cast<std::ptrdiff_t>(j) * p.c_col];
        };
        const bool begun = bias || (accumulate && !direct);
        for (std::size_t r = 0; r < p.m && begun; ++r) {
            for (std::size_t j = 0; j < p.n; ++j)
                to[static_cast<std::ptrdiff_t>(r) * row + static_cast<std::ptrdiff_t>(j)] =
                    (accumulate ? place(r, j) : T{0}) + (bias ? bias[j] : T{0});
        }
        tile_product(p.m, direct ? p.n : ld, p.k, left, a_row, a_col, right, b_row, to, row, accumulate || bias);
        for (std::size_t r = 0; r < p.m && !direct; ++r) {
            for (std::size_t j = 0; j < p.n; ++j) place(r, j) = product[r * ld + j];
        }
    }
}

#define INKLING_INSTANCE(Format, A, B) \
    template void small<Format>(const GemmShape&, const A*, const B*, Format::Result*, bool, const Format::Result*);
INKLING_FOR_EACH_PRODUCT(INKLING_INSTANCE)

}  // namespace inkling::kernels

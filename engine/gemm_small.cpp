// Products that fit the first cache, where a call of oneDNN would cost more than the work: both operands are packed as
// the register tiles of tile_product.h want them, on this thread.
#include "engine/gemm_kernels.h"
#include "engine/tile_product.h"

namespace inkling::kernels {
namespace {

// (rows, columns) with rows side by side, `ld` apart; the rest of each row becomes 0.
template <class In>
void pack(const In* x, std::ptrdiff_t row, std::ptrdiff_t col, std::size_t rows, std::size_t columns, float* out,
          std::size_t ld) {
    if constexpr (std::is_same_v<In, float>) {
        if (row == 1) return turn(x, col, columns, rows, out, ld);
    }
    for (std::size_t i = 0; i < rows; ++i) {
        const In* const from = x + static_cast<std::ptrdiff_t>(i) * row;
        for (std::size_t j = 0; j < columns; ++j) out[i * ld + j] = number(from[static_cast<std::ptrdiff_t>(j) * col]);
        std::fill(out + i * ld + columns, out + (i + 1) * ld, 0.0f);
    }
}

}  // namespace

template <class In>
void small(const Problem& p, const In* a, const In* b, float* c, bool accumulate, const float* bias) {
    const std::size_t ld = whole_vectors<float>(p.n);
    const bool dense_b = std::is_same_v<In, float> && p.b_col == 1 && ld == p.n;
    const bool direct = p.c_col == 1 && ld == p.n && !bias;  // straight into C
    thread_local std::vector<float> scratch;
    scratch.resize(ld * (p.k + p.m) + p.m * p.k);
    float *const packed_b = scratch.data(), *const product = packed_b + ld * p.k, *const packed_a = product + ld * p.m;
    for (std::size_t i = 0; i < p.batches(); ++i) {
        const In *const A = a + p.batch_offset(0, i), *const B = b + p.batch_offset(1, i);
        float* const C = c + p.batch_offset(2, i);
        const float *pa = packed_a, *pb = packed_b;
        std::ptrdiff_t a_row = static_cast<std::ptrdiff_t>(p.k), a_col = 1, b_row = static_cast<std::ptrdiff_t>(ld);
        if constexpr (std::is_same_v<In, float>) {
            pa = A, a_row = p.a_row, a_col = p.a_col;
            if (dense_b) pb = B, b_row = p.b_row;
        } else {
            pack(A, p.a_row, p.a_col, p.m, p.k, packed_a, p.k);
        }
        if (!dense_b) pack(B, p.b_row, p.b_col, p.k, p.n, packed_b, ld);
        if (direct) {
            tile_product(p.m, p.n, p.k, pa, a_row, a_col, pb, b_row, C, p.c_row, accumulate);
            continue;
        }
        tile_product(p.m, ld, p.k, pa, a_row, a_col, pb, b_row, product, static_cast<std::ptrdiff_t>(ld), false);
        for (std::size_t r = 0; r < p.m; ++r) {
            float* const to = C + static_cast<std::ptrdiff_t>(r) * p.c_row;
            const float* const from = product + r * ld;
            for (std::size_t j = 0; j < p.n; ++j) {
                float& out = to[static_cast<std::ptrdiff_t>(j) * p.c_col];
                out = (accumulate ? out : 0.0f) + (from[j] + (bias ? bias[j] : 0.0f));
            }
        }
    }
}

template void small(const Problem&, const float*, const float*, float*, bool, const float*);
template void small(const Problem&, const BFloat16*, const BFloat16*, float*, bool, const float*);

}  // namespace inkling::kernels

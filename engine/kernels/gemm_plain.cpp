// The plain loop, and GemmShape, which describes a product to all kernels.
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm_kernels.h"

namespace inkling::kernels {
namespace {

float number(BFloat16 x) { return widen(x); }
float number(float x) { return x; }
double number(double x) { return x; }

}  // namespace

std::ptrdiff_t GemmShape::batch_offset(std::size_t operand, std::size_t index) const {
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = batch.size(); axis-- > 0; index /= batch[axis]) {
        offset += static_cast<std::ptrdiff_t>(index % batch[axis]) * batch_strides[operand][axis];
    }
    return offset;
}

template <class In, class T>
void plain(const GemmShape& p, const In* a, const In* b, T* c, bool accumulate, const T* bias) {
    const std::size_t row_work = p.n * (p.k + 1);
    const auto one_batch = [&](const In* A, const In* B, T* C, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto row = static_cast<std::ptrdiff_t>(i);
            T* const ci = C + row * p.c_row;
            const In* const ai = A + row * p.a_row;
            for (std::size_t j = 0; j < p.n; ++j) {
                T& cij = ci[static_cast<std::ptrdiff_t>(j) * p.c_col];
                cij = (accumulate ? cij : T{0}) + (bias ? bias[j] : T{0});
            }
            for (std::size_t kk = 0; kk < p.k; ++kk) {  // B by rows, so that the inner loop runs along C's row
                const auto depth = static_cast<std::ptrdiff_t>(kk);
                const T aik = number(ai[depth * p.a_col]);
                const In* const bk = B + depth * p.b_row;
                if (p.b_col == 1 && p.c_col == 1) {
                    for (std::size_t j = 0; j < p.n; ++j) ci[j] = std::fma(aik, number(bk[j]), ci[j]);
                } else {
                    for (std::size_t j = 0; j < p.n; ++j) {
                        const auto column = static_cast<std::ptrdiff_t>(j);
                        T& cij = ci[column * p.c_col];
                        cij = std::fma(aik, number(bk[column * p.b_col]), cij);
                    }
                }
            }
        }
    };
    parallel_rows(p.batches() * p.m, row_work, [&](std::size_t begin, std::size_t end) {
        while (begin < end) {  // rows of all batches, one batch at a time
            const std::size_t batch = begin / p.m, first = begin % p.m;
            const std::size_t last = std::min(p.m, first + (end - begin));
            one_batch(a + p.batch_offset(0, batch), b + p.batch_offset(1, batch), c + p.batch_offset(2, batch), first,
                      last);
            begin += last - first;
        }
    });
}

template void plain(const GemmShape&, const float*, const float*, float*, bool, const float*);
template void plain(const GemmShape&, const double*, const double*, double*, bool, const double*);
template void plain(const GemmShape&, const BFloat16*, const BFloat16*, float*, bool, const float*);

}  // namespace inkling::kernels

// The plain loop.
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm_kernels.h"

namespace inkling::kernels {

void plain(const GemmShape& p, const double* a, const double* b, double* c, bool accumulate, const double* bias) {
    const auto one_batch = [&](const double* A, const double* B, double* C, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto row = static_cast<std::ptrdiff_t>(i);
            for (std::size_t j = 0; j < p.n; ++j) {
                const auto column = static_cast<std::ptrdiff_t>(j);
                double& cij = C[row * p.c_row + column * p.c_col];
                cij = (accumulate ? cij : 0) + (bias ? bias[j] : 0);
            }
            for (std::size_t k = 0; k < p.k; ++k) {  // B by rows, so that the inner loop runs along C's row
                const auto depth = static_cast<std::ptrdiff_t>(k);
                const double aik = A[row * p.a_row + depth * p.a_col];
                for (std::size_t j = 0; j < p.n; ++j) {
                    const auto column = static_cast<std::ptrdiff_t>(j);
                    double& cij = C[row * p.c_row + column * p.c_col];
                    cij = std::fma(aik, B[depth * p.b_row + column * p.b_col], cij);
                }
            }
        }
    };
    parallel_rows(p.batches() * p.m, p.n * (p.k + 1), [&](std::size_t begin, std::size_t end) {
        while (begin < end) {  // rows of all batches, one batch at a time
            const std::size_t batch = begin / p.m, first = begin % p.m;
            const std::size_t last = std::min(p.m, first + (end - begin));
            one_batch(a + p.batch_offset(0, batch), b + p.batch_offset(1, batch), c + p.batch_offset(2, batch), first,
                      last);
            begin += last - first;
        }
    });
}

}  // namespace inkling::kernels

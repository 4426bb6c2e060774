// What gemm.cpp chooses from, each with its own file: the plain loop (gemm_plain.cpp), products that fit the first
// cache (gemm_small.cpp), and oneDNN (gemm_onednn.cpp). Not for other files.
#pragma once

#include <array>

#include "engine/bfloat16.h"

namespace inkling::kernels {

inline float number(BFloat16 x) { return widen(x); }
inline float number(float x) { return x; }
inline double number(double x) { return x; }

// A product with the batch axes merged: batch (count.., strides of a, b, c), then M, N, K with row and column strides.
struct Problem {
    Shape batch;
    std::array<Strides, 3> batch_strides;
    std::size_t m, n, k;
    std::ptrdiff_t a_row, a_col, b_row, b_col, c_row, c_col;

    // Throws when the shapes do not fit.
    template <class In, class T>
    Problem(const Array<In>& a, const Array<In>& b, const Array<T>& c);

    std::size_t batches() const { return size_of(batch); }
    std::size_t work() const { return batches() * m * n * k; }  // multiply-adds
    std::ptrdiff_t batch_offset(std::size_t operand, std::size_t index) const;
};

// C (+)= A B + bias; bias may be null. `In` is T, or BFloat16 for float results.
template <class In, class T>
void plain(const Problem& p, const In* a, const In* b, T* c, bool accumulate, const T* bias);

template <class In>
void small(const Problem& p, const In* a, const In* b, float* c, bool accumulate, const float* bias);

// oneDNN takes matrices that have a stride of 1 in one of their two directions, and results with rows of stride 1.
template <class T>
bool fits_onednn(const Array<T>& x);
template <class In>
void onednn(Problem p, const In* a, const In* b, float* c, bool accumulate, const float* bias);

}  // namespace inkling::kernels

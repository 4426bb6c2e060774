// The plain loop, and what describes a product to it and to the other kernels.
#include "engine/base/parallel.h"
#include "engine/kernels/gemm_kernels.h"
#include "engine/kernels/strided.h"

namespace inkling::kernels {
namespace {

float number(BFloat16 x) { return widen(x); }
float number(float x) { return x; }
double number(double x) { return x; }

}  // namespace

template <class A, class B, class T>
GemmShape::GemmShape(const ConstArray<A>& a, const ConstArray<B>& b, const ConstArray<T>& c) {
    check(a.rank() >= 2 && b.rank() >= 2 && c.rank() >= 2, "gemm: matrices are required, got {}, {} and {}", a.shape(),
          b.shape(), c.shape());
    m = c.dim(-2), n = c.dim(-1), k = a.dim(-1);
    check(a.dim(-2) == m && b.dim(-1) == n && b.dim(-2) == k,
          "gemm: (M, K) (K, N) -> (M, N) is required, got {}, {} and {}", a.shape(), b.shape(), c.shape());
    const auto row = [](const auto& x) { return x.strides()[x.rank() - 2]; };
    const auto column = [](const auto& x) { return x.strides()[x.rank() - 1]; };
    a_row = row(a), a_col = column(a), b_row = row(b), b_col = column(b), c_row = row(c), c_col = column(c);
    if (a.rank() == 2 && b.rank() == 2 && c.rank() == 2) return;
    const Shape full(c.shape().begin(), c.shape().end() - 2);
    const auto with_batch = [&full](const auto& x) {
        Shape shape = full;
        shape.push_back(x.dim(-2));
        shape.push_back(x.dim(-1));
        return x.broadcasted(shape);
    };
    const ConstArray<A> wide_a = with_batch(a);
    const ConstArray<B> wide_b = with_batch(b);
    const StridedLoop merged(full, {&wide_a.strides(), &wide_b.strides(), &c.strides()});
    batch = merged.shape;
    std::copy_n(merged.strides.begin(), 3, batch_strides.begin());
}

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
                    for (std::size_t j = 0; j < p.n; ++j) ci[j] += aik * number(bk[j]);
                } else {
                    for (std::size_t j = 0; j < p.n; ++j) {
                        const auto column = static_cast<std::ptrdiff_t>(j);
                        ci[column * p.c_col] += aik * number(bk[column * p.b_col]);
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

template GemmShape::GemmShape(const ConstArray<float>&, const ConstArray<float>&, const ConstArray<float>&);
template GemmShape::GemmShape(const ConstArray<double>&, const ConstArray<double>&, const ConstArray<double>&);
template GemmShape::GemmShape(const ConstArray<BFloat16>&, const ConstArray<BFloat16>&, const ConstArray<float>&);
template GemmShape::GemmShape(const ConstArray<float>&, const ConstArray<BFloat16>&, const ConstArray<float>&);
template GemmShape::GemmShape(const ConstArray<BFloat16>&, const ConstArray<float>&, const ConstArray<float>&);
template void plain(const GemmShape&, const float*, const float*, float*, bool, const float*);
template void plain(const GemmShape&, const double*, const double*, double*, bool, const double*);
template void plain(const GemmShape&, const BFloat16*, const BFloat16*, float*, bool, const float*);

}  // namespace inkling::kernels

#include "engine/array/gemm.h"

#include "engine/array/strided.h"
#include "engine/base/precision.h"
#include "engine/base/profile.h"
#include "engine/kernels/gemm_kernels.h"

namespace inkling {
namespace {

constexpr std::size_t kSmallWork = 1 << 16;  // multiply-adds below which packing and a second thread do not pay
constexpr std::size_t kFewRows = 128;        // of A, beside so many columns of B that B is not worth packing

// Throws if the shapes do not fit.
template <class A, class B, class T>
kernels::GemmShape shape_of(const ConstArray<A>& a, const ConstArray<B>& b, const Array<T>& c) {
    check(a.rank() >= 2 && b.rank() >= 2 && c.rank() >= 2, "gemm: expected matrices, got {}, {} and {}", a.shape(),
          b.shape(), c.shape());
    check(a.dim(-2) == c.dim(-2) && b.dim(-1) == c.dim(-1) && b.dim(-2) == a.dim(-1),
          "gemm: expected (M, K) (K, N) -> (M, N), got {}, {} and {}", a.shape(), b.shape(), c.shape());
    const auto row = [](const auto& x) { return x.strides()[x.rank() - 2]; };
    const auto column = [](const auto& x) { return x.strides()[x.rank() - 1]; };
    kernels::GemmShape p{.m = c.dim(-2),
                         .n = c.dim(-1),
                         .k = a.dim(-1),
                         .a_row = row(a),
                         .a_col = column(a),
                         .b_row = row(b),
                         .b_col = column(b),
                         .c_row = row(c),
                         .c_col = column(c)};
    if (a.rank() == 2 && b.rank() == 2 && c.rank() == 2) return p;
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
    p.batch = merged.shape;
    std::copy_n(merged.strides.begin(), 3, p.batch_strides.begin());
    return p;
}

template <class T>
const T* bias_data(const ConstArray<T>& bias, const Array<T>& c) {
    if (!bias.defined()) return nullptr;
    check(bias.rank() == 1 && bias.dim(0) == c.dim(-1) && bias.is_contiguous(),
          "gemm: expected a bias of one number a column, got {} for {}", bias.shape(), c.shape());
    return bias.data();
}

template <class Format, class A, class B, class T>
void run(const ConstArray<A>& a, const ConstArray<B>& b, Array<T>& c, bool accumulate, const ConstArray<T>& bias) {
    const kernels::GemmShape p = shape_of(a, b, c);
    const T* const shift = bias_data(bias, c);
    if (p.work() < kSmallWork) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::small<typename Format::Small>(p, a.data(), b.data(), c.data(), accumulate, shift);
    } else if (p.m > 1 && p.m <= kFewRows && 2 * p.m <= p.n && p.b_row == 1 && p.c_row != 1 && c.rank() == 2 &&
               !accumulate) {
        Array<T> by_columns = Array<T>({p.n, p.m}).transposed(0, 1);  // so B is read in place, below
        if (shift) copy_into(by_columns, bias.broadcasted(c.shape()));
        run<Format>(a, b, by_columns, shift != nullptr, {});
        copy_into(c, by_columns);
    } else if (p.c_col == 1 || p.n == 1) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::blocks<Format>(p, a.data(), b.data(), c.data(), accumulate, shift);
    } else if (p.c_row == 1 && !shift) {  // C^T = B^T A^T
        Array<T> ct = c.transposed(-2, -1);
        run<Format>(b.transposed(-2, -1), a.transposed(-2, -1), ct, accumulate, bias);
    } else {
        Array<T> dense = accumulate ? c.clone() : Array<T>(c.shape());
        run<Format>(a, b, dense, accumulate, bias);
        copy_into(c, dense);
    }
}

template <class A, class B, class T>
void multiply(const ConstArray<A>& a, const ConstArray<B>& b, Array<T>& c, GemmOptions options,
              const ConstArray<T>& bias) {
    if constexpr (std::is_same_v<T, float>) {
        constexpr bool rounded = std::is_same_v<A, BFloat16> || std::is_same_v<B, BFloat16>;
        if (rounded || options.round) {
#ifdef __AVX512BF16__
            if (has_bf16_products()) return run<kernels::RoundedPairs>(a, b, c, options.accumulate, bias);
#endif
            return run<kernels::Rounded>(a, b, c, options.accumulate, bias);
        }
    }
    if constexpr (std::is_same_v<A, T> && std::is_same_v<B, T>) {
        run<kernels::Full<T>>(a, b, c, options.accumulate, bias);
    }
}

}  // namespace

#define INKLING_GEMM(A, B, T)                                                                   \
    void gemm(const ConstArray<A>& a, const ConstArray<B>& b, Array<T>& c, GemmOptions options, \
              const ConstArray<T>& bias) {                                                      \
        multiply(a, b, c, options, bias);                                                       \
    }
INKLING_GEMM(double, double, double)
INKLING_GEMM(float, float, float)
INKLING_GEMM(float, BFloat16, float)
INKLING_GEMM(BFloat16, float, float)
INKLING_GEMM(BFloat16, BFloat16, float)
#undef INKLING_GEMM

}  // namespace inkling

#include "engine/kernels/gemm.h"

#include "engine/base/precision.h"
#include "engine/base/profile.h"
#include "engine/kernels/gemm_kernels.h"

namespace inkling {
namespace {

constexpr std::size_t kSmallWork = 1 << 16;  // multiply-adds that packing and a second thread would not pay for

template <class T>
const T* bias_data(const ConstArray<T>& bias, const Array<T>& c) {
    if (!bias.defined()) return nullptr;
    check(bias.rank() == 1 && bias.dim(0) == c.dim(-1) && bias.is_contiguous(),
          "gemm: a bias of one number a column is required, got {} for {}", bias.shape(), c.shape());
    return bias.data();
}

template <class Format, class A, class B, class T>
void run(const ConstArray<A>& a, const ConstArray<B>& b, Array<T>& c, bool accumulate, const ConstArray<T>& bias) {
    const kernels::GemmShape p(a, b, static_cast<const ConstArray<T>&>(c));
    const T* const shift = bias_data(bias, c);
    if (p.work() < kSmallWork) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::small<typename Format::Small>(p, a.data(), b.data(), c.data(), accumulate, shift);
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
        constexpr bool half = std::is_same_v<A, BFloat16> || std::is_same_v<B, BFloat16>;
        if (half || options.round) {
#ifdef __AVX512BF16__
            if (has_fast_bf16()) return run<kernels::HalfPairs>(a, b, c, options.accumulate, bias);
#endif
            return run<kernels::Half>(a, b, c, options.accumulate, bias);
        }
    }
    if constexpr (std::is_same_v<A, T> && std::is_same_v<B, T>) {
        run<kernels::Full<T>>(a, b, c, options.accumulate, bias);
    }
}

template <class In, class T>
void multiply_plain(const ConstArray<In>& a, const ConstArray<In>& b, Array<T>& c, GemmOptions options,
                    const ConstArray<T>& bias) {
    const kernels::GemmShape p(a, b, static_cast<const ConstArray<T>&>(c));
    kernels::plain(p, a.data(), b.data(), c.data(), options.accumulate, bias_data(bias, c));
}

}  // namespace

#define INKLING_GEMM(name, multiply, A, B, T)                                                   \
    void name(const ConstArray<A>& a, const ConstArray<B>& b, Array<T>& c, GemmOptions options, \
              const ConstArray<T>& bias) {                                                      \
        multiply(a, b, c, options, bias);                                                       \
    }
INKLING_GEMM(gemm, multiply, double, double, double)
INKLING_GEMM(gemm, multiply, float, float, float)
INKLING_GEMM(gemm, multiply, float, BFloat16, float)
INKLING_GEMM(gemm, multiply, BFloat16, float, float)
INKLING_GEMM(gemm, multiply, BFloat16, BFloat16, float)
INKLING_GEMM(gemm_plain, multiply_plain, double, double, double)
INKLING_GEMM(gemm_plain, multiply_plain, float, float, float)
INKLING_GEMM(gemm_plain, multiply_plain, BFloat16, BFloat16, float)
#undef INKLING_GEMM

}  // namespace inkling

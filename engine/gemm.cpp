#include "engine/gemm.h"

#include "engine/gemm_kernels.h"
#include "engine/profile.h"

namespace inkling {
namespace {

constexpr std::size_t kSmallWork = 1 << 16;  // multiply-adds that packing and a second thread would not pay for

template <class T>
const T* bias_data(const Array<T>& bias, const Array<T>& c) {
    if (!bias.defined()) return nullptr;
    check(bias.rank() == 1 && bias.dim(0) == c.dim(-1) && bias.is_contiguous(),
          "gemm: a bias of one number a column is required, got {} for {}", bias.shape(), c.shape());
    return bias.data();
}

template <class Form, class A, class B, class T>
void run(const Array<A>& a, const Array<B>& b, Array<T>& c, bool accumulate, const Array<T>& bias) {
    const kernels::Problem p(a, b, c);
    const T* const shift = bias_data(bias, c);
    if (p.work() < kSmallWork) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::small<Form>(p, a.data(), b.data(), c.data(), accumulate, shift);
    } else if (p.c_col == 1 || p.n == 1) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::blocks<Form>(p, a.data(), b.data(), c.data(), accumulate, shift);
    } else if (p.c_row == 1 && !shift) {  // C^T = B^T A^T
        Array<T> ct = c.transposed(-2, -1);
        run<Form>(b.transposed(-2, -1), a.transposed(-2, -1), ct, accumulate, bias);
    } else {
        Array<T> dense = accumulate ? c.clone() : Array<T>(c.shape());
        run<Form>(a, b, dense, accumulate, bias);
        copy_into(c, dense);
    }
}

}  // namespace

template <class A, class B, class T>
void gemm(const Array<A>& a, const Array<B>& b, Array<T>& c, GemmOptions options, const Array<T>& bias) {
    if constexpr (std::is_same_v<T, float>) {
        constexpr bool half = std::is_same_v<A, BFloat16> || std::is_same_v<B, BFloat16>;
        if (half || options.round) return run<kernels::Half>(a, b, c, options.accumulate, bias);
    }
    if constexpr (std::is_same_v<A, T> && std::is_same_v<B, T>) {
        run<kernels::Full<T>>(a, b, c, options.accumulate, bias);
    }
}

template <class In, class T>
void gemm_plain(const Array<In>& a, const Array<In>& b, Array<T>& c, GemmOptions options, const Array<T>& bias) {
    kernels::plain(kernels::Problem(a, b, c), a.data(), b.data(), c.data(), options.accumulate, bias_data(bias, c));
}

template void gemm(const Array<double>&, const Array<double>&, Array<double>&, GemmOptions, const Array<double>&);
template void gemm(const Array<float>&, const Array<float>&, Array<float>&, GemmOptions, const Array<float>&);
template void gemm(const Array<float>&, const Array<BFloat16>&, Array<float>&, GemmOptions, const Array<float>&);
template void gemm(const Array<BFloat16>&, const Array<float>&, Array<float>&, GemmOptions, const Array<float>&);
template void gemm(const Array<BFloat16>&, const Array<BFloat16>&, Array<float>&, GemmOptions, const Array<float>&);

template void gemm_plain(const Array<float>&, const Array<float>&, Array<float>&, GemmOptions, const Array<float>&);
template void gemm_plain(const Array<double>&, const Array<double>&, Array<double>&, GemmOptions, const Array<double>&);
template void gemm_plain(const Array<BFloat16>&, const Array<BFloat16>&, Array<float>&, GemmOptions,
                         const Array<float>&);

}  // namespace inkling

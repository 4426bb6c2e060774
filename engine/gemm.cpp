#include "engine/gemm.h"

#include "engine/gemm_kernels.h"
#include "engine/profile.h"

namespace inkling {
namespace {

constexpr std::size_t kSmallWork = 1 << 16;  // multiply-adds below which a call of oneDNN costs more than it saves

template <class T>
const T* bias_data(const Array<T>& bias, const Array<T>& c) {
    if (!bias.defined()) return nullptr;
    check(bias.rank() == 1 && bias.dim(0) == c.dim(-1) && bias.is_contiguous(),
          "gemm: a bias of one number a column is required, got {} for {}", bias.shape(), c.shape());
    return bias.data();
}

// Float results, of float or bfloat16 operands.
template <class In>
void float_gemm(const Array<In>& a, const Array<In>& b, Array<float>& c, GemmOptions options,
                const Array<float>& bias) {
    const kernels::Problem p(a, b, c);
    const float* const shift = bias_data(bias, c);
    const bool dense_rows = kernels::fits_onednn(c) && (c.dim(-1) == 1 || c.strides()[c.rank() - 1] == 1);
    if (p.work() < kSmallWork) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::small(p, a.data(), b.data(), c.data(), options.accumulate, shift);
    } else if (!kernels::fits_onednn(a) || !kernels::fits_onednn(b)) {
        float_gemm(a.contiguous(), b.contiguous(), c, options, bias);
    } else if (dense_rows) {
        profile::count_flops(2.0 * static_cast<double>(p.work()));
        kernels::onednn(p, a.data(), b.data(), c.data(), options.accumulate, shift);
    } else if (kernels::fits_onednn(c) && !shift) {  // C^T = B^T A^T
        Array<float> ct = c.transposed(-2, -1);
        float_gemm(b.transposed(-2, -1), a.transposed(-2, -1), ct, options, bias);
    } else {
        Array<float> dense = options.accumulate ? c.clone() : Array<float>(c.shape());
        float_gemm(a, b, dense, options, bias);
        copy_into(c, dense);
    }
}

}  // namespace

template <class In, class T>
void gemm_plain(const Array<In>& a, const Array<In>& b, Array<T>& c, GemmOptions options, const Array<T>& bias) {
    kernels::plain(kernels::Problem(a, b, c), a.data(), b.data(), c.data(), options.accumulate, bias_data(bias, c));
}

template <>
void gemm(const Array<double>& a, const Array<double>& b, Array<double>& c, GemmOptions options,
          const Array<double>& bias) {
    gemm_plain(a, b, c, options, bias);
}

template <>
void gemm(const Array<float>& a, const Array<float>& b, Array<float>& c, GemmOptions options,
          const Array<float>& bias) {
    float_gemm(a, b, c, options, bias);
}

template <>
void gemm(const Array<BFloat16>& a, const Array<BFloat16>& b, Array<float>& c, GemmOptions options,
          const Array<float>& bias) {
    float_gemm(a, b, c, options, bias);
}

template void gemm_plain(const Array<float>&, const Array<float>&, Array<float>&, GemmOptions, const Array<float>&);
template void gemm_plain(const Array<double>&, const Array<double>&, Array<double>&, GemmOptions, const Array<double>&);
template void gemm_plain(const Array<BFloat16>&, const Array<BFloat16>&, Array<float>&, GemmOptions,
                         const Array<float>&);

}  // namespace inkling

#include "engine/precision.h"

#include "engine/ops/reduce.h"

namespace inkling {
namespace {

thread_local Precision current = Precision::fp32;

}  // namespace

Precision product_precision() { return current; }

WithPrecision::WithPrecision(Precision precision) : before_(current) { current = precision; }
WithPrecision::~WithPrecision() { current = before_; }

template <class T>
Operand<T>::Operand(const Array<T>& x, Precision precision) {
    if constexpr (std::is_same_v<T, float>) {
        if (precision == Precision::bf16) {
            half_ = round_to_bfloat16(x);
            return;
        }
    }
    full_ = Saved<T>(x);
}

template <class T>
Operand<T>::Operand(const Array<T>& x, Precision precision, Array<T>& column_sums) {
    if constexpr (std::is_same_v<T, float>) {
        if (precision == Precision::bf16) {
            half_ = round_and_sum(x.contiguous(), column_sums);
            return;
        }
    }
    full_ = Saved<T>(x);
    column_sums = sum_over(x, {0});
}

template <class T>
Operand<T> Operand<T>::reshaped(const Shape& shape) const {
    if (half_) return {{}, half_->reshaped(shape)};
    return {Saved<T>(full_->reshaped(shape)), {}};
}

template <class T>
Operand<T> Operand<T>::transposed() const {
    if (half_) return {{}, half_->transposed(-2, -1)};
    return {Saved<T>(full_->transposed(-2, -1)), {}};
}

template <class T>
void product(const Operand<T>& a, const Operand<T>& b, Array<T>& c, GemmOptions options, const Array<T>& bias) {
    check(a.precision() == b.precision(), "product: both operands must have the same precision");
    if constexpr (std::is_same_v<T, float>) {
        if (a.half_) return gemm(*a.half_, *b.half_, c, options, bias);
    }
    gemm(*a.full_, *b.full_, c, options, bias);
}

template class Operand<float>;
template class Operand<double>;
template void product(const Operand<float>&, const Operand<float>&, Array<float>&, GemmOptions, const Array<float>&);
template void product(const Operand<double>&, const Operand<double>&, Array<double>&, GemmOptions,
                      const Array<double>&);

}  // namespace inkling

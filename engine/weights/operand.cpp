#include "engine/weights/operand.h"

#include "engine/array/axes.h"

namespace inkling {

template <class T>
Operand<T>::Operand(ConstArray<T> x, Precision precision)
    : precision_(std::is_same_v<T, float> ? precision : Precision::fp32), full_(std::move(x)) {}

template <class T>
Operand<T> Operand<T>::rounded(const ConstArray<T>& x, Precision precision, Array<T>* column_sums) {
    if constexpr (std::is_same_v<T, float>) {
        if (precision == Precision::bf16)
            return of_bfloat16(column_sums ? round_and_sum(x.contiguous(), *column_sums) : round_to_bfloat16(x));
    }
    if (column_sums) *column_sums = sum_over<T>(x, {0});
    return Operand(x, precision);
}

template <class T>
Operand<T> Operand<T>::of_bfloat16(ConstArray<BFloat16> x) {
    Operand result;
    result.precision_ = Precision::bf16;
    result.bfloat16_ = std::move(x);
    return result;
}

template <class T>
ConstArray<T> Operand<T>::values() const {
    if constexpr (std::is_same_v<T, float>) {
        if (bfloat16_) return widen(*bfloat16_);
    }
    return *full_;
}

template <class T>
Operand<T> Operand<T>::reshaped(const Shape& shape) const {
    return bfloat16_ ? of_bfloat16(bfloat16_->reshaped(shape)) : Operand(full_->reshaped(shape), precision_);
}

template <class T>
Operand<T> Operand<T>::transposed() const {
    return bfloat16_ ? of_bfloat16(bfloat16_->transposed(-2, -1)) : Operand(full_->transposed(-2, -1), precision_);
}

template <class T>
Operand<T> Operand<T>::columns(std::size_t begin, std::size_t end) const {
    return bfloat16_ ? of_bfloat16(bfloat16_->sliced(1, begin, end))
                     : Operand(full_->sliced(1, begin, end), precision_);
}

template <class T>
void product(const Operand<T>& a, const Operand<T>& b, Array<T>& c, GemmOptions options,
             const ConstArray<std::type_identity_t<T>>& bias) {
    check(a.precision_ == b.precision_, "product: both operands must have the same precision");
    options.round = a.precision_ == Precision::bf16;
    if constexpr (std::is_same_v<T, float>) {
        if (a.bfloat16_ && b.bfloat16_) return gemm(*a.bfloat16_, *b.bfloat16_, c, options, bias);
        if (a.bfloat16_) return gemm(*a.bfloat16_, *b.full_, c, options, bias);
        if (b.bfloat16_) return gemm(*a.full_, *b.bfloat16_, c, options, bias);
    }
    gemm(*a.full_, *b.full_, c, options, bias);
}

template <class T>
std::size_t SavedWeight<T>::rows_at_once(Precision precision) const {
    constexpr std::size_t kBytes = std::size_t{4} << 20;  // of widened rows: they stay in L3
    constexpr std::size_t kTiles = 48;    // whole groups of a packed matrix, and whole tiles of a product
    constexpr std::size_t kFewest = 240;  // so that dX is not read and written for few rows
    const bool as_it_is = !packed_ || (precision == Precision::bf16 && packed_->bfloat16().defined());
    return as_it_is ? rows_ : std::max(kFewest, kBytes / sizeof(T) / packed_->columns() / kTiles * kTiles);
}

template <class T>
Operand<T> SavedWeight<T>::rows(std::size_t begin, std::size_t end, Precision precision) const {
    if (!packed_) return Operand<T>(end - begin == rows_ ? *full_ : full_->sliced(0, begin, end), precision);
    if constexpr (std::is_same_v<T, float>) {
        if (precision == Precision::bf16 && packed_->bfloat16().defined())
            return Operand<T>::of_bfloat16(ConstArray<BFloat16>(packed_->bfloat16()).sliced(0, begin, end));
    }
    return Operand<T>(packed_->template unpacked_rows<T>(begin, end), precision);
}

template class Operand<float>;
template class Operand<double>;
template class SavedWeight<float>;
template class SavedWeight<double>;
template void product(const Operand<float>&, const Operand<float>&, Array<float>&, GemmOptions,
                      const ConstArray<float>&);
template void product(const Operand<double>&, const Operand<double>&, Array<double>&, GemmOptions,
                      const ConstArray<double>&);

}  // namespace inkling

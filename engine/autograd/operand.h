// Operands of matrix products in the precision that is set (engine/base/precision.h), one name for both. They are also
// what activations save, which can be rounded in the same way.
//   const Operand<float> x(array), w(weights);   product(x, w, y);     // the arrays themselves, or rounded to bfloat16
#pragma once

#include <optional>

#include "engine/array/gemm.h"
#include "engine/autograd/packed_matrix.h"
#include "engine/autograd/tensor.h"
#include "engine/base/precision.h"

namespace inkling {

// An operand of products, in the precision that was set when it was made; it can be saved for backward. It is rounded
// in each product as it is packed, or once, by rounded().
template <class T>
class Operand {
  public:
    Operand() = default;
    explicit Operand(ConstArray<T> x) : Operand(std::move(x), product_precision()) {}
    Operand(ConstArray<T> x, Precision precision);
    // Rounded now, which takes half the memory: for what is saved, or used more than once.
    static Operand rounded(const ConstArray<T>& x, Precision precision = product_precision());
    // The same for x (rows, columns), and the sums of its columns in the same pass.
    static Operand rounded(const ConstArray<T>& x, Precision precision, Array<T>& column_sums);

    Precision precision() const { return precision_; }
    static Operand of_half(ConstArray<BFloat16> x);       // which products in bf16 take as it is
    const ConstArray<T>& full() const { return *full_; }  // undefined where there is nothing, or:
    const std::optional<ConstArray<BFloat16>>& half() const { return half_; }
    Operand reshaped(const Shape& shape) const;
    Operand transposed() const;  // the two last axes

    template <class U>
    friend void product(const Operand<U>& a, const Operand<U>& b, Array<U>& c, GemmOptions options,
                        const ConstArray<std::type_identity_t<U>>& bias);

  private:
    Precision precision_ = Precision::fp32;
    Saved<T> full_;
    std::optional<ConstArray<BFloat16>> half_;
};

// The weight of a layer, saved for backward: an operand of products, or rows of it. What is packed is widened for each.
template <class T>
class SavedWeight {
  public:
    explicit SavedWeight(const Tensor<T>& weight)
        : rows_(weight.dim(0)), packed_(weight.packed()), full_(packed_ ? Saved<T>() : Saved<T>(weight)) {}
    Operand<T> operand(Precision precision) const { return rows(0, rows_, precision); }
    Operand<T> rows(std::size_t begin, std::size_t end, Precision precision) const;

  private:
    std::size_t rows_;
    std::shared_ptr<const PackedMatrix> packed_;
    Saved<T> full_;
};

// C (+)= A B + bias, as gemm. Both operands must have the same precision.
template <class T>
void product(const Operand<T>& a, const Operand<T>& b, Array<T>& c, GemmOptions options = {},
             const ConstArray<std::type_identity_t<T>>& bias = {});

}  // namespace inkling

// In which precision matrix products take their operands. Sums, and everything that is not a product, stay float32.
//   const WithPrecision scope(Precision::bf16);      // products of ops called from here on round to bfloat16
//   Operand<float> x16(x);  product(x16, w16, y);     // x itself, or x rounded: one name for both
// double arrays are never rounded.
#pragma once

#include <optional>
#include <string_view>

#include "engine/gemm.h"
#include "engine/tensor.h"

namespace inkling {

enum class Precision { fp32, bf16 };

Precision precision_named(std::string_view name);  // "fp32" or "bf16"; throws Error for another name

Precision product_precision();  // of ops called on this thread

bool has_fast_bf16();  // whether this program multiplies bfloat16 in the CPU's own instructions, AVX512_BF16

class WithPrecision {
  public:
    explicit WithPrecision(Precision precision);
    ~WithPrecision();
    WithPrecision(const WithPrecision&) = delete;
    WithPrecision& operator=(const WithPrecision&) = delete;

  private:
    Precision before_;
};

// An operand of products, in the precision that was set when it was made; it can be saved for backward. It is rounded
// on its way into each product, or once and for all.
template <class T>
class Operand {
  public:
    Operand() = default;
    explicit Operand(const ConstArray<T>& x) : Operand(x, product_precision()) {}
    Operand(const ConstArray<T>& x, Precision precision);
    // Rounded now, which holds half the memory: for what is saved, or used more than once.
    static Operand rounded(const ConstArray<T>& x, Precision precision = product_precision());
    // The same for x (rows, columns), and the sums of its columns in the same pass.
    static Operand rounded(const ConstArray<T>& x, Precision precision, Array<T>& column_sums);

    Precision precision() const { return precision_; }
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

// C (+)= A B + bias, as gemm. Both operands must have the same precision.
template <class T>
void product(const Operand<T>& a, const Operand<T>& b, Array<T>& c, GemmOptions options = {},
             const ConstArray<std::type_identity_t<T>>& bias = {});

}  // namespace inkling

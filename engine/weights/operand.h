// Operands of matrix products in the current precision (engine/base/precision.h), float32 or bfloat16. Activations save
// them too, and can round them in the same way.
//   const Operand<float> x(array), w(weights);   product(x, w, y);     // rounds both to bfloat16 in that precision
#pragma once

#include <optional>

#include "engine/array/gemm.h"
#include "engine/autograd/record.h"
#include "engine/base/precision.h"
#include "engine/weights/weight.h"

namespace inkling {

// An operand in the precision at its construction; it can be saved for backward. Each product rounds it while
// packing, or rounded() does so once.
template <class T>
class Operand {
  public:
    Operand() = default;
    explicit Operand(ConstArray<T> x) : Operand(std::move(x), product_precision()) {}
    Operand(ConstArray<T> x, Precision precision);
    // Rounds now, to half the memory: for operands that are saved, or used more than once. Sums the columns of an x
    // (rows, columns) in the same pass, if asked to.
    static Operand rounded(const ConstArray<T>& x, Precision precision = product_precision(),
                           Array<T>* column_sums = nullptr);

    Precision precision() const { return precision_; }
    static Operand of_bfloat16(ConstArray<BFloat16> x);   // bf16 products use it directly
    const ConstArray<T>& full() const { return *full_; }  // undefined if rounded
    const std::optional<ConstArray<BFloat16>>& bfloat16() const { return bfloat16_; }
    ConstArray<T> values() const;  // widened if rounded
    Operand reshaped(const Shape& shape) const;
    Operand transposed() const;                                 // the two last axes
    Operand columns(std::size_t begin, std::size_t end) const;  // of a matrix

    template <class U>
    friend void product(const Operand<U>& a, const Operand<U>& b, Array<U>& c, GemmOptions options,
                        const ConstArray<std::type_identity_t<U>>& bias);

  private:
    Precision precision_ = Precision::fp32;
    Saved<T> full_;
    std::optional<ConstArray<BFloat16>> bfloat16_;
};

// Saves the weight of a layer for backward, as an operand, whole or by rows. Widens a packed weight in each call.
//   w.each_block(precision, [&](std::size_t begin, std::size_t end, const Operand<T>& rows) { ... });
template <class T>
class SavedWeight {
  public:
    explicit SavedWeight(const Weight<T>& weight)
        : rows_(weight.dim(0)), packed_(weight.packed()), full_(weight.tensor()) {}
    Operand<T> operand(Precision precision) const { return rows(0, rows_, precision); }
    Operand<T> rows(std::size_t begin, std::size_t end, Precision precision) const;
    // Visits the rows in order: at once, or as many as fit the cache when widened.
    template <class Visit>
    void each_block(Precision precision, const Visit& visit) const {
        const std::size_t step = rows_at_once(precision);
        std::size_t begin = 0;
        do {  // once for no rows, too: their product is zeros
            const std::size_t end = std::min(rows_, begin + step);
            visit(begin, end, rows(begin, end, precision));
            begin = end;
        } while (begin < rows_);
    }

  private:
    std::size_t rows_at_once(Precision precision) const;

    std::size_t rows_;
    std::shared_ptr<const PackedMatrix> packed_;
    Saved<T> full_;
};

// C (+)= A B + bias, as gemm. Both operands must have the same precision.
template <class T>
void product(const Operand<T>& a, const Operand<T>& b, Array<T>& c, GemmOptions options = {},
             const ConstArray<std::type_identity_t<T>>& bias = {});

}  // namespace inkling

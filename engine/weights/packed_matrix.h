// A constant weight matrix (rows, columns): float32 (the model's own memory, without a copy), or a copy in bfloat16 or
// in 8 bits. Training stores frozen weights this way, to save memory (engine/weights/weight.h), and so does text
// generation: a product with one vector costs as much as reading the weights, so smaller weights are faster.
//   const PackedMatrix w(linear.weight.value(), WeightType::q8_0);
//   w.multiply(0, w.rows(), x, 1, y, w.rows());                   // y = W x, on this thread
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/array/bfloat16.h"
#include "engine/base/precision.h"
#include "engine/base/q8_block.h"

namespace inkling {

enum class WeightType {
    fp32,
    bf16,
    q8_0,  // llama.cpp's: 32 numbers d q as a float16 scale d = max |x| / 127 and 32 int8 q
};

constexpr auto names(WeightType) {
    return name_table<WeightType>({{WeightType::fp32, "fp32"}, {WeightType::bf16, "bf16"}, {WeightType::q8_0, "q8_0"}});
}

class PackedMatrix {  // a handle: copies share the numbers
  public:
    PackedMatrix() = default;
    // weight (rows, columns). q8_0 keeps float32 if the columns are not a multiple of 32.
    PackedMatrix(const ConstArray<float>& weight, WeightType type);
    explicit PackedMatrix(const Array<BFloat16>& weight);  // as bf16, without a copy
    // Rounds to q8_0 the rows that `fill` writes, on several threads, a row at a time; columns is a multiple of
    // kQ8Block.
    static PackedMatrix q8_of_rows(std::size_t rows, std::size_t columns,
                                   const std::function<void(std::size_t row, float* out)>& fill);

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    WeightType type() const { return type_; }
    std::size_t bytes() const;

    // y[b y_stride + r] = sum_c W[r, c] x[b columns + c] for rows [begin, end) and `batch` vectors x. The bits are
    // those of the widened weights, for bf16 too, and depend neither on the range nor on the batch.
    void multiply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                  std::size_t y_stride) const;

    PackedMatrix as(WeightType type) const;  // rounds to `type`, without widening the whole matrix at once
    ConstArray<float> unpacked() const;      // (rows, columns)
    const Array<BFloat16>& bfloat16() const { return bfloat16_; }  // defined only for bf16
    template <class T>
    Array<T> unpacked_rows(std::size_t begin, std::size_t end) const;
    template <class T>
    void unpack_rows(std::size_t begin, std::size_t end, T* out) const;  // the same, on this thread

  private:
    template <class RowOf>
    void pack_q8(const RowOf& row_of);  // row_of(r, buffer): row r, in `buffer` or elsewhere
    const std::int8_t* quants() const;

    WeightType type_ = WeightType::fp32;
    std::size_t rows_ = 0, columns_ = 0;
    ConstArray<float> float32_;
    Array<BFloat16> bfloat16_;
    Array<std::uint8_t> quants_;                                // (rows, columns), int8 each
    std::shared_ptr<const std::vector<std::uint16_t>> scales_;  // (rows, columns / 32), float16 each
};

// PackedMatrix::multiply for a contiguous matrix.
void multiply(const ConstArray<float>& matrix, std::size_t begin, std::size_t end, const float* x, std::size_t batch,
              float* y, std::size_t y_stride);

// Rounds n numbers to bfloat16 if the precision is bf16.
void round_for(Precision precision, float* x, std::size_t n);

}  // namespace inkling

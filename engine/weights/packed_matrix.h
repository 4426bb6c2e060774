// A constant weight matrix (rows, columns): float32 (the model's own memory, without a copy), bfloat16, or quantized
// blocks as a GGUF file has them, 16 rows interleaved (engine/kernels/block_types.h). Training stores frozen weights
// this way, to save memory (engine/weights/weight.h), and so does text generation: a product with one vector costs as
// much as reading the weights, so smaller weights are faster.
//   const PackedMatrix w(linear.weight.value(), WeightType::q8_0);
//   w.multiply(0, w.rows(), x, 1, y, w.rows());                   // y = W x, on this thread
#pragma once

#include <functional>
#include <string>

#include "engine/array/bfloat16.h"
#include "engine/base/precision.h"

namespace inkling {

struct BlockType;

enum class WeightType {
    fp32,
    bf16,
    q8_0,  // llama.cpp's: a float16 scale d = max |x| / 127 and 32 int8 q, for the numbers d q
    file,  // the blocks of the file that the weights come from
};

constexpr auto names(WeightType) {
    return name_table<WeightType>({{WeightType::fp32, "fp32"},
                                   {WeightType::bf16, "bf16"},
                                   {WeightType::q8_0, "q8_0"},
                                   {WeightType::file, "file"}});
}

class PackedMatrix {  // a handle: copies share the numbers
  public:
    PackedMatrix() = default;
    // weight (rows, columns), as fp32, bf16 or q8_0. With q8_0 it stays float32 if columns is not a multiple of 32.
    PackedMatrix(const ConstArray<float>& weight, WeightType type);
    explicit PackedMatrix(const Array<BFloat16>& weight);  // as bf16, without a copy
    // Of blocks: bytes_of(row, room) returns the bytes of a row, in room or elsewhere, where they stay until it is
    // called 16 rows later. Called on several threads; columns is a multiple of the type's numbers.
    using BytesOf = std::function<const std::byte*(std::size_t row, std::byte* room)>;
    PackedMatrix(const BlockType& type, std::size_t rows, std::size_t columns, const BytesOf& bytes_of);
    // A q8_0 matrix of the rows that `fill` writes, a row at a time, on several threads.
    static PackedMatrix q8_of_rows(std::size_t rows, std::size_t columns,
                                   const std::function<void(std::size_t row, float* out)>& fill);

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    WeightType type() const { return type_; }
    const BlockType* blocks() const { return blocks_; }  // null for fp32 and bf16
    bool rounds() const;  // whether ops use multiply_blocks: with RoundsActivations, without gradients
    std::size_t bytes() const;
    bool finite() const { return finite_; }  // whether all scales of the blocks are finite

    // y[b y_stride + r] = sum_c W[r, c] x[b columns + c] for rows [begin, end) and `batch` vectors x. The bits are
    // those of the widened weights, for bf16 too; with blocks, x is rounded to 8 bits
    // (engine/kernels/block_products.h). They depend neither on the range nor on the batch.
    void multiply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                  std::size_t y_stride) const;
    // The same for blocks, on several threads; rounds each vector once.
    void multiply_blocks(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                         std::size_t y_stride) const;

    PackedMatrix as(WeightType type) const;  // rounds to `type`, without widening the whole matrix at once
    ConstArray<float> unpacked() const;      // (rows, columns)
    const Array<BFloat16>& bfloat16() const { return bfloat16_; }  // defined only for bf16
    template <class T>
    Array<T> unpacked_rows(std::size_t begin, std::size_t end) const;
    template <class T>
    void unpack_rows(std::size_t begin, std::size_t end, T* out) const;  // the same, on this thread

  private:
    std::size_t group_bytes() const;
    const std::byte* group_at(std::size_t i) const;
    void multiply_group(std::size_t group, std::size_t begin, std::size_t end, std::size_t first, std::size_t last,
                        const void* x, std::size_t vectors, float* y, std::size_t y_stride) const;

    WeightType type_ = WeightType::fp32;
    std::size_t rows_ = 0, columns_ = 0;
    bool finite_ = true;
    ConstArray<float> float32_;
    Array<BFloat16> bfloat16_;
    const BlockType* blocks_ = nullptr;
    Array<std::uint8_t> groups_;  // (rows / 16, rounded up; bytes of 16 rows)
};

// PackedMatrix::multiply for a contiguous matrix.
void multiply(const ConstArray<float>& matrix, std::size_t begin, std::size_t end, const float* x, std::size_t batch,
              float* y, std::size_t y_stride);

// Rounds n numbers to bfloat16 if the precision is bf16.
void round_for(Precision precision, float* x, std::size_t n);

}  // namespace inkling

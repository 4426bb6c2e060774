#include "engine/weights/packed_matrix.h"

#include <atomic>
#include <bit>
#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/base/parallel.h"
#include "engine/kernels/block_products.h"
#include "engine/kernels/weight_rows.h"

namespace inkling {

using row_group::kRows, row_group::RoundedBlock;

PackedMatrix::PackedMatrix(const ConstArray<float>& weight, WeightType type)
    : type_(type), rows_(weight.dim(0)), columns_(weight.dim(1)) {
    check(weight.rank() == 2, "PackedMatrix: expected a matrix, got shape {}", weight.shape());
    if (type == WeightType::file || (type == WeightType::q8_0 && columns_ % kQ8Block != 0)) type_ = WeightType::fp32;
    if (type_ == WeightType::fp32) float32_ = weight.contiguous();
    if (type_ == WeightType::bf16) bfloat16_ = round_to_bfloat16(weight);
    if (type_ != WeightType::q8_0) return;
    const ConstArray<float> dense = weight.contiguous();
    *this = q8_of_rows(rows_, columns_,
                       [&](std::size_t r, float* row) { std::copy_n(dense.data() + r * columns_, columns_, row); });
}

PackedMatrix::PackedMatrix(const Array<BFloat16>& weight)
    : type_(WeightType::bf16), rows_(weight.dim(0)), columns_(weight.dim(1)), bfloat16_(weight) {
    check(weight.rank() == 2 && weight.is_contiguous(), "PackedMatrix: expected a dense matrix, got shape {}",
          weight.shape());
}

PackedMatrix::PackedMatrix(const BlockType& type, std::size_t rows, std::size_t columns, const BytesOf& bytes_of)
    : type_(type.name == "Q8_0" ? WeightType::q8_0 : WeightType::file), rows_(rows), columns_(columns), blocks_(&type) {
    check(columns % type.numbers == 0, "PackedMatrix: columns that are a multiple of {} are required for {}, got {}",
          type.numbers, type.name, columns);
    const std::size_t groups = (rows + kRows - 1) / kRows, row_bytes = type.row_bytes(columns);
    groups_ = Array<std::uint8_t>({groups, group_bytes()});
    std::atomic<bool> finite = true;
    parallel_rows(groups, kRows * columns, [&](std::size_t begin, std::size_t end) {
        std::vector<std::byte> room(kRows * row_bytes);
        for (; begin < end; ++begin) {
            const std::byte* from[kRows] = {};
            const std::size_t count = std::min(kRows, rows_ - begin * kRows);
            for (std::size_t r = 0; r < count; ++r) from[r] = bytes_of(begin * kRows + r, room.data() + r * row_bytes);
            auto* const to = reinterpret_cast<std::byte*>(groups_.data() + begin * group_bytes());
            if (!type.pack(from, count, columns_ / type.numbers, to)) finite = false;
        }
    });
    finite_ = finite;
}

PackedMatrix PackedMatrix::as(WeightType type) const {
    if (type == type_) return *this;
    if (type != WeightType::q8_0 || columns_ % kQ8Block != 0) return {unpacked(), type};
    return q8_of_rows(rows_, columns_, [&](std::size_t r, float* row) { unpack_rows(r, r + 1, row); });
}

PackedMatrix PackedMatrix::q8_of_rows(std::size_t rows, std::size_t columns,
                                      const std::function<void(std::size_t row, float* out)>& fill) {
    const BlockType& q8 = *block_type("Q8_0");
    return {q8, rows, columns, [&](std::size_t r, std::byte* room) {
                std::vector<float> row(columns);
                fill(r, row.data());
                q8.round(row.data(), columns / q8.numbers, room);
                return room;
            }};
}

bool PackedMatrix::rounds() const { return blocks_ && rounds_activations() && NoGrad::active(); }

std::size_t PackedMatrix::group_bytes() const { return kRows * blocks_->row_bytes(columns_); }

const std::byte* PackedMatrix::group_at(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(groups_.data() + i * group_bytes());
}

std::size_t PackedMatrix::bytes() const {
    if (blocks_) return rows_ * blocks_->row_bytes(columns_);
    return rows_ * columns_ * (type_ == WeightType::bf16 ? 2 : 4);
}

// Calls body(first vector, count) for groups of 8, 4, 2 and 1 vectors, as many as the kernel takes.
template <class Body>
static void each_batch(std::size_t batch, std::size_t most, const Body& body) {
    for (std::size_t b = 0; b < batch;) {
        const std::size_t n = std::min(most, std::bit_floor(batch - b));
        body(b, n);
        b += n;
    }
}

// Rounds blocks of N vectors to `out`.
static void round_batch(std::size_t vectors, const float* x, std::size_t stride, std::size_t blocks, int offset,
                        void* out) {
    const auto round = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
        row_group::round_vectors(x, stride, blocks, offset, static_cast<RoundedBlock<N>*>(out));
    };
    if (vectors == 1) return round(std::integral_constant<std::size_t, 1>{});
    if (vectors == 2) return round(std::integral_constant<std::size_t, 2>{});
    vectors == 4 ? round(std::integral_constant<std::size_t, 4>{}) : round(std::integral_constant<std::size_t, 8>{});
}

// Rows [begin, end) of a group, for the numbers [32 first, 32 last) of each; adds to y unless first is 0.
void PackedMatrix::multiply_group(std::size_t group, std::size_t begin, std::size_t end, std::size_t first,
                                  std::size_t last, const void* x, std::size_t vectors, float* y,
                                  std::size_t y_stride) const {
    alignas(64) float sums[8 * kRows];
    const std::size_t from = std::max(begin, group * kRows), rows = std::min(end, (group + 1) * kRows) - from;
    float* const lanes = sums + (from - group * kRows);
    for (std::size_t n = 0; n < vectors && first > 0; ++n) {
        std::fill_n(sums + n * kRows, kRows, 0.0f);
        std::copy_n(y + n * y_stride + from, rows, lanes + n * kRows);
    }
    blocks_->best().run[std::countr_zero(vectors)](
        {group_at(group), columns_ / blocks_->numbers, first, last, x, sums, first > 0});
    for (std::size_t n = 0; n < vectors; ++n) std::copy_n(lanes + n * kRows, rows, y + n * y_stride + from);
}

void PackedMatrix::multiply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                            std::size_t y_stride) const {
    const std::size_t n = columns_;
    const auto rows = [&](const auto& row) { weight_rows::multiply_rows(n, begin, end, x, batch, y, y_stride, row); };
    if (type_ == WeightType::fp32) return rows(weight_rows::dot_row(float32_.data(), n, y_stride));
    if (type_ == WeightType::bf16) return rows(weight_rows::dot_row(bfloat16_.data(), n, y_stride));
    RoundedBlock<1> rounded[512];  // blocks of all vectors that fit the stack: 16,384 columns of one
    each_batch(batch, blocks_->best().most, [&](std::size_t b, std::size_t vectors) {
        const std::size_t part = std::size(rounded) / vectors;  // a multiple of all blocks
        for (std::size_t first = 0; first < n / kQ8Block; first += part) {
            const std::size_t last = std::min(n / kQ8Block, first + part);
            round_batch(vectors, x + b * n + first * kQ8Block, n, last - first, blocks_->best().offset, rounded);
            for (std::size_t group = begin / kRows; group * kRows < end; ++group)
                multiply_group(group, begin, end, first, last, rounded, vectors, y + b * y_stride, y_stride);
        }
    });
}

void PackedMatrix::multiply_blocks(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                                   std::size_t y_stride) const {
    const auto& kernel = blocks_->best();
    const std::size_t blocks = columns_ / kQ8Block, vector = blocks * sizeof(RoundedBlock<1>);
    if (begin == end) return;
    Array<std::uint8_t> rounded({batch, vector});
    parallel_for((batch + kernel.most - 1) / kernel.most, 1, [&](std::size_t from, std::size_t to) {
        const std::size_t some = std::min(batch, to * kernel.most) - from * kernel.most;
        each_batch(some, kernel.most, [&](std::size_t i, std::size_t vectors) {
            const std::size_t b = from * kernel.most + i;
            round_batch(vectors, x + b * columns_, columns_, blocks, kernel.offset, rounded.data() + b * vector);
        });
    });
    // Some groups, which stay in the cache, pass by all vectors.
    constexpr std::size_t kCached = 64 << 10;
    const std::size_t step = std::max<std::size_t>(1, kCached / group_bytes());
    parallel_rows(end / kRows + 1 - begin / kRows, kRows * columns_ * batch, [&](std::size_t from, std::size_t to) {
        from += begin / kRows, to = std::min(to + begin / kRows, (end + kRows - 1) / kRows);
        for (; from < to; from += step) {
            each_batch(batch, kernel.most, [&](std::size_t b, std::size_t vectors) {
                for (std::size_t group = from; group < std::min(to, from + step); ++group)
                    multiply_group(group, begin, end, 0, blocks, rounded.data() + b * vector, vectors, y + b * y_stride,
                                   y_stride);
            });
        }
    });
}

void multiply(const ConstArray<float>& matrix, std::size_t begin, std::size_t end, const float* x, std::size_t batch,
              float* y, std::size_t y_stride) {
    const std::size_t n = matrix.dim(1);
    weight_rows::multiply_rows(n, begin, end, x, batch, y, y_stride, weight_rows::dot_row(matrix.data(), n, y_stride));
}

ConstArray<float> PackedMatrix::unpacked() const {
    if (type_ == WeightType::fp32) return float32_;
    return type_ == WeightType::bf16 ? widen(bfloat16_) : unpacked_rows<float>(0, rows_);
}

template <class T>
Array<T> PackedMatrix::unpacked_rows(std::size_t begin, std::size_t end) const {
    check(begin <= end && end <= rows_, "PackedMatrix: expected rows of {}, got {} to {}", rows_, begin, end);
    Array<T> rows({end - begin, columns_});
    parallel_rows(end - begin, columns_, [&](std::size_t from, std::size_t to) {
        unpack_rows(begin + from, begin + to, rows.data() + from * columns_);
    });
    return rows;
}

template <class T>
void PackedMatrix::unpack_rows(std::size_t begin, std::size_t end, T* out) const {
    const std::size_t first = begin * columns_, n = (end - begin) * columns_;
    if (type_ == WeightType::fp32) {
        std::copy_n(float32_.data() + first, n, out);
    } else if (type_ == WeightType::bf16) {
        std::transform(bfloat16_.data() + first, bfloat16_.data() + first + n, out,
                       [](BFloat16 h) { return widen(h); });
    } else {
        const std::size_t blocks = columns_ / blocks_->numbers, row_bytes = blocks_->row_bytes(columns_);
        std::vector<std::byte> rows(std::min(kRows, end - begin) * row_bytes);
        std::vector<float> wide(std::is_same_v<T, float> ? 0 : columns_);
        while (begin < end) {
            const std::size_t row = begin % kRows, count = std::min(kRows - row, end - begin);
            blocks_->unpack(group_at(begin / kRows), blocks, row, count, rows.data());
            for (std::size_t r = 0; r < count; ++r, ++begin, out += columns_) {
                if constexpr (std::is_same_v<T, float>) {
                    blocks_->widen(rows.data() + r * row_bytes, blocks, out);
                } else {
                    blocks_->widen(rows.data() + r * row_bytes, blocks, wide.data());
                    std::copy_n(wide.data(), columns_, out);
                }
            }
        }
    }
}

void round_for(Precision precision, float* x, std::size_t n) {
    if (precision != Precision::bf16) return;
    for (std::size_t i = 0; i < n; ++i) x[i] = widen(round_to_bfloat16(x[i]));
}

template Array<float> PackedMatrix::unpacked_rows(std::size_t, std::size_t) const;
template Array<double> PackedMatrix::unpacked_rows(std::size_t, std::size_t) const;
template void PackedMatrix::unpack_rows(std::size_t, std::size_t, float*) const;
template void PackedMatrix::unpack_rows(std::size_t, std::size_t, double*) const;

}  // namespace inkling

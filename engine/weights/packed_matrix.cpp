#include "engine/weights/packed_matrix.h"

#include "engine/base/parallel.h"
#include "engine/kernels/weight_rows.h"

namespace inkling {

PackedMatrix::PackedMatrix(const ConstArray<float>& weight, WeightType type)
    : type_(type), rows_(weight.dim(0)), columns_(weight.dim(1)) {
    check(weight.rank() == 2, "PackedMatrix: a matrix is required, got shape {}", weight.shape());
    if (type == WeightType::q8_0 && columns_ % kQ8Block != 0) type_ = WeightType::fp32;
    if (type_ == WeightType::fp32) float32_ = weight.contiguous();
    if (type_ == WeightType::bf16) bfloat16_ = round_to_bfloat16(weight);
    if (type_ != WeightType::q8_0) return;
    const ConstArray<float> dense = weight.contiguous();
    pack_q8([&](std::size_t r, float*) { return dense.data() + r * columns_; });
}

PackedMatrix::PackedMatrix(const Array<BFloat16>& weight)
    : type_(WeightType::bf16), rows_(weight.dim(0)), columns_(weight.dim(1)), bfloat16_(weight) {
    check(weight.rank() == 2 && weight.is_contiguous(), "PackedMatrix: a dense matrix is required, got shape {}",
          weight.shape());
}

const std::int8_t* PackedMatrix::quants() const { return reinterpret_cast<const std::int8_t*>(quants_.data()); }

template <class RowOf>
void PackedMatrix::pack_q8(const RowOf& row_of) {
    quants_ = Array<std::uint8_t>({rows_, columns_});
    std::vector<std::uint16_t> scales(quants_.size() / kQ8Block);
    auto* const quants = reinterpret_cast<std::int8_t*>(quants_.data());
    parallel_rows(rows_, columns_, [&](std::size_t begin, std::size_t end) {
        std::vector<float> buffer(columns_);
        for (std::size_t block = begin * columns_ / kQ8Block; begin < end; ++begin) {
            const float* x = row_of(begin, buffer.data());
            for (const float* const row_end = x + columns_; x < row_end; x += kQ8Block, ++block)
                scales[block] = round_to_q8(x, quants + block * kQ8Block);
        }
    });
    scales_ = std::make_shared<const std::vector<std::uint16_t>>(std::move(scales));
}

PackedMatrix PackedMatrix::as(WeightType type) const {
    if (type == type_) return *this;
    if (type != WeightType::q8_0 || columns_ % kQ8Block != 0) return {unpacked(), type};
    return q8_of_rows(rows_, columns_, [&](std::size_t r, float* row) { unpack_rows(r, r + 1, row); });
}

PackedMatrix PackedMatrix::q8_of_rows(std::size_t rows, std::size_t columns,
                                      const std::function<void(std::size_t row, float* out)>& fill) {
    check(columns % kQ8Block == 0, "PackedMatrix: columns that are a multiple of {} are required, got {}", kQ8Block,
          columns);
    PackedMatrix result;
    result.type_ = WeightType::q8_0, result.rows_ = rows, result.columns_ = columns;
    result.pack_q8([&](std::size_t r, float* row) {
        fill(r, row);
        return row;
    });
    return result;
}

std::size_t PackedMatrix::bytes() const {
    const std::size_t n = rows_ * columns_;
    return type_ == WeightType::fp32   ? 4 * n
           : type_ == WeightType::bf16 ? 2 * n
                                       : n + n / kQ8Block * sizeof(std::uint16_t);
}

void PackedMatrix::multiply(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* y,
                            std::size_t y_stride) const {
    const std::size_t n = columns_;
    const auto rows = [&](const auto& row) { weight_rows::multiply_rows(n, begin, end, x, batch, y, y_stride, row); };
    switch (type_) {
        case WeightType::fp32:
            return rows(weight_rows::dot_row(float32_.data(), n, y_stride));
        case WeightType::bf16:
            return rows(weight_rows::dot_row(bfloat16_.data(), n, y_stride));
        case WeightType::q8_0:
            return rows([&, w = quants(), d = scales_->data()](std::size_t r, const float* xs, float* ys, auto N) {
                weight_rows::dot_q8<N>(w + r * n, d + r * (n / kQ8Block), n, xs, ys, y_stride);
            });
    }
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
    check(begin <= end && end <= rows_, "PackedMatrix: rows of {} are required, got {} to {}", rows_, begin, end);
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
        constexpr std::size_t W = Vec<float>::size;
        for (std::size_t i = first; i < first + n; i += W, out += W) {
            const Vec<float> v =
                weight_rows::load_wide(quants() + i) * weight_rows::all_lanes((*scales_)[i / kQ8Block]);
            if constexpr (std::is_same_v<T, float>) {
                v.store_unaligned(out);
            } else {
                float lanes[W];
                v.store_unaligned(lanes);
                std::copy_n(lanes, W, out);
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

// What a linear layer multiplies with, or an embedding looks up: a tensor, or a frozen matrix stored in fewer bytes.
//   Weight<float> w = tensor;            // the tensor itself, with its gradient
//   w = w.as(WeightType::q8_0);          // linear, linear_cross_entropy and embedding widen the rows they need
#pragma once

#include "engine/autograd/tensor.h"
#include "engine/weights/packed_matrix.h"

namespace inkling {

template <class T>
class Weight {
  public:
    Weight() = default;
    Weight(Tensor<T> tensor) : tensor_(std::move(tensor)) {}  // NOLINT: implicit on purpose
    explicit Weight(PackedMatrix matrix) : packed_(std::make_shared<const PackedMatrix>(std::move(matrix))) {}

    const std::shared_ptr<const PackedMatrix>& packed() const { return packed_; }  // null for a tensor
    Tensor<T>& tensor() { return tensor_; }                                        // undefined if packed
    const Tensor<T>& tensor() const { return tensor_; }
    operator const Tensor<T>&() const { return tensor_; }  // NOLINT: implicit on purpose
    const ConstArray<T>& value() const { return tensor_.value(); }
    ConstArray<T> values() const {  // widened if packed
        if (packed_) return packed_->template unpacked_rows<T>(0, packed_->rows());
        return tensor_.value();
    }

    bool defined() const { return packed_ || tensor_.defined(); }
    Shape shape() const { return packed_ ? Shape{packed_->rows(), packed_->columns()} : tensor_.shape(); }
    std::size_t dim(std::size_t axis) const { return shape()[axis]; }
    std::size_t size() const { return size_of(shape()); }
    std::size_t bytes() const { return packed_ ? packed_->bytes() : size() * sizeof(T); }

    Weight detach() const { return packed_ ? *this : Weight(tensor_.detach()); }
    // The same matrix stored as `type`, without a gradient. It stays float32 if q8_0 does not fit its rows, bfloat16 if
    // `type` is float32, because the numbers are the same, and as it is if `type` is file.
    Weight as(WeightType type) const {
        const WeightType now = packed_ ? packed_->type() : WeightType::fp32;
        if (now == type || type == WeightType::file || (now == WeightType::bf16 && type == WeightType::fp32))
            return detach();
        if (type == WeightType::fp32) return Tensor<T>(values());
        const PackedMatrix matrix =
            packed_ ? packed_->as(type) : PackedMatrix(ConstArray<float>(tensor_.value()), type);
        return matrix.type() == type ? Weight(matrix) : Weight(Tensor<T>(values()));
    }

  private:
    Tensor<T> tensor_;
    std::shared_ptr<const PackedMatrix> packed_;
};

}  // namespace inkling

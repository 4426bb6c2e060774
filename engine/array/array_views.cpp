// Views of arrays: other shapes, orders and parts of the elements in the same buffer.
#include "engine/array/array.h"

#include <cstdint>

#include "engine/array/bfloat16.h"

namespace inkling {

template <class T>
ConstArray<T>::ConstArray(std::shared_ptr<Buffer> owner, const T* data, const Shape& shape, const Strides& strides)
    : storage_(std::move(data), size_of(shape)), owner_(std::move(owner)) {
    this->shape_impl() = shape;
    this->strides_impl() = strides;
    this->backstrides_impl().resize(shape.size());
    xt::adapt_strides(this->shape_impl(), this->strides_impl(), this->backstrides_impl());
}

template <class T>
Array<T> Array<T>::over(T* elements, const Shape& shape, Strides strides, std::shared_ptr<void> keeper) {
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 1) strides[i] = 0;
    auto buffer = std::make_shared<Buffer>(elements, size_of(shape) * sizeof(T), std::move(keeper));
    return writable([&] { return ConstArray<T>(buffer, elements, shape, strides); });
}

template <class T>
bool ConstArray<T>::is_contiguous() const {
    if (this->size() == 0) return true;
    std::ptrdiff_t step = 1;
    const auto& shape = this->shape();
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && this->strides()[i] != step) return false;
        step *= static_cast<std::ptrdiff_t>(shape[i]);
    }
    return true;
}

template <class T>
ConstArray<T> ConstArray<T>::reshaped(const Shape& shape) const {
    check(size_of(shape) == this->size(), "reshape: the number of elements must stay {}, got {} from {}", this->size(),
          shape, this->shape());
    if (is_contiguous()) return ConstArray(owner_, this->data(), shape, row_major_strides(shape));
    // Not contiguous: a view exists if the elements of each merged or split group of axes are evenly spaced.
    const Shape& old = this->shape();
    Strides strides(shape.size(), 0);
    std::size_t i = 0, j = 0;  // groups old[i..i2) and shape[j..j2) of equal size
    while (i < old.size() || j < shape.size()) {
        std::size_t i2 = i, j2 = j, left = 1, right = 1;
        if (i2 < old.size()) left *= old[i2++];
        if (j2 < shape.size()) right *= shape[j2++];
        while (left != right) {
            if (left < right) {
                left *= old[i2++];
            } else {
                right *= shape[j2++];
            }
        }
        std::ptrdiff_t step = 0, expected = 0;
        bool first = true;
        for (std::size_t a = i2; a-- > i;) {
            if (old[a] == 1) continue;
            if (first) {
                step = this->strides()[a];
                first = false;
            } else if (this->strides()[a] != expected) {
                return clone().reshaped(shape);
            }
            expected = this->strides()[a] * static_cast<std::ptrdiff_t>(old[a]);
        }
        for (std::size_t b = j2; b-- > j;) {
            strides[b] = shape[b] == 1 ? 0 : step;
            step *= static_cast<std::ptrdiff_t>(shape[b]);
        }
        i = i2, j = j2;
    }
    return ConstArray(owner_, this->data(), shape, strides);
}

template <class T>
ConstArray<T> ConstArray<T>::permuted(const Shape& axes) const {
    check(axes.size() == rank(), "permute: every axis must be named once, got {} for shape {}", axes, this->shape());
    Shape shape(rank()), seen(rank(), 0);
    Strides strides(rank());
    for (std::size_t i = 0; i < rank(); ++i) {
        check(axes[i] < rank() && !seen[axes[i]]++, "permute: every axis must be named once, got {} for shape {}", axes,
              this->shape());
        shape[i] = this->shape()[axes[i]];
        strides[i] = this->strides()[axes[i]];
    }
    return ConstArray(owner_, this->data(), shape, strides);
}

template <class T>
ConstArray<T> ConstArray<T>::transposed(std::ptrdiff_t a, std::ptrdiff_t b) const {
    Shape axes(rank());
    for (std::size_t i = 0; i < rank(); ++i) axes[i] = i;
    std::swap(axes[normalize_axis("transpose", a, rank())], axes[normalize_axis("transpose", b, rank())]);
    return permuted(axes);
}

template <class T>
ConstArray<T> ConstArray<T>::sliced(std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step) const {
    const std::size_t k = normalize_axis("slice", axis, rank());
    check(begin <= end && end <= this->shape()[k] && step > 0,
          "slice: 0 <= begin <= end <= size and step > 0 are required, got [{}, {}) by {} on axis {} of shape {}",
          static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(end), step, k, this->shape());
    Shape shape = this->shape();
    Strides strides(this->strides().begin(), this->strides().end());
    const T* const start = this->data() + static_cast<std::ptrdiff_t>(begin) * strides[k];
    shape[k] = (end - begin + step - 1) / step;
    strides[k] = shape[k] == 1 ? 0 : strides[k] * static_cast<std::ptrdiff_t>(step);
    return ConstArray(owner_, start, shape, strides);
}

template <class T>
ConstArray<T> ConstArray<T>::broadcasted(const Shape& shape) const {
    check(shape.size() >= rank(), "broadcast: shape {} does not broadcast to {}", this->shape(), shape);
    const std::size_t extra = shape.size() - rank();
    Strides strides(shape.size(), 0);
    for (std::size_t i = 0; i < rank(); ++i) {
        const std::size_t d = this->shape()[i];
        check(d == shape[extra + i] || d == 1, "broadcast: shape {} does not broadcast to {}", this->shape(), shape);
        strides[extra + i] = d == 1 ? 0 : this->strides()[i];
    }
    return ConstArray(owner_, this->data(), shape, strides);
}

#define INKLING_INSTANTIATE(T)                                                                                 \
    template ConstArray<T>::ConstArray(std::shared_ptr<Buffer>, const T*, const Shape&, const Strides&);       \
    template Array<T> Array<T>::over(T*, const Shape&, Strides, std::shared_ptr<void>);                        \
    template bool ConstArray<T>::is_contiguous() const;                                                        \
    template ConstArray<T> ConstArray<T>::reshaped(const Shape&) const;                                        \
    template ConstArray<T> ConstArray<T>::permuted(const Shape&) const;                                        \
    template ConstArray<T> ConstArray<T>::transposed(std::ptrdiff_t, std::ptrdiff_t) const;                    \
    template ConstArray<T> ConstArray<T>::sliced(std::ptrdiff_t, std::size_t, std::size_t, std::size_t) const; \
    template ConstArray<T> ConstArray<T>::broadcasted(const Shape&) const;
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
INKLING_INSTANTIATE(std::int32_t)
INKLING_INSTANTIATE(std::uint8_t)
INKLING_INSTANTIATE(BFloat16)
#undef INKLING_INSTANTIATE

}  // namespace inkling

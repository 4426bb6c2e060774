#include "engine/array/array.h"

#include <cstdint>
#include <functional>

#include "engine/array/axes.h"
#include "engine/array/bfloat16.h"
#include "engine/array/strided.h"
#include "engine/base/parallel.h"
#include "engine/base/profile.h"

namespace inkling {

// Nearly every file copies, moves and destroys arrays, so these functions are compiled once, here.
template <class T>
ConstArray<T>::ConstArray() : storage_(nullptr, 1) {}
template <class T>
ConstArray<T>::ConstArray(const ConstArray&) = default;
template <class T>
ConstArray<T>::ConstArray(ConstArray&&) noexcept = default;
template <class T>
ConstArray<T>::~ConstArray() = default;
template <class T>
ConstArray<T>& ConstArray<T>::operator=(const ConstArray&) = default;
template <class T>
ConstArray<T>& ConstArray<T>::operator=(ConstArray&&) noexcept = default;

template <class T>
Array<T>::Array() : storage_(nullptr, 1) {}
template <class T>
Array<T>::Array(const Shape& shape)
    : Array(std::in_place, [&] {
          std::size_t bytes = 0;
          check(!__builtin_mul_overflow(size_of(shape), sizeof(T), &bytes),
                "array: the number of bytes of shape {} is too large", shape);
          auto buffer = std::make_shared<Buffer>(bytes);
          const auto* const data = static_cast<const T*>(buffer->data);
          return ConstArray<T>(std::move(buffer), data, shape, row_major_strides(shape));
      }) {}
template <class T>
Array<T>::Array(const Shape& shape, T value) : Array(shape) {
    // A page lies near the thread that first writes it. Threads fill the ranges of a large array that they will read.
    constexpr std::size_t kLarge = std::size_t{1} << 18;
    T* const to = this->data();
    parallel_for(this->size(), kLarge, kLine,
                 [=](std::size_t begin, std::size_t end) { std::fill(to + begin, to + end, value); });
}
template <class T>
Array<T>::Array(const Array&) = default;
template <class T>
Array<T>::Array(Array&&) noexcept = default;
template <class T>
Array<T>::~Array() = default;
template <class T>
Array<T>& Array<T>::operator=(const Array&) & = default;
template <class T>
Array<T>& Array<T>::operator=(Array&&) & noexcept = default;

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
    return this->size() == 0 || is_row_major(this->shape(), this->strides());
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
          "slice: expected 0 <= begin <= end <= size and step > 0, got [{}, {}) by {} on axis {} of shape {}",
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
    check(broadcasts_to(this->shape(), shape), "broadcast: shape {} does not broadcast to {}", this->shape(), shape);
    Strides strides(shape.size(), 0);  // those of axes of size 1 are 0
    std::copy(this->strides().begin(), this->strides().end(), strides.end() - static_cast<std::ptrdiff_t>(rank()));
    return ConstArray(owner_, this->data(), shape, strides);
}

template <class T>
Array<T> ConstArray<T>::clone() const {
    Array<T> copy(this->shape());
    copy_into(copy, *this);
    return copy;
}

template <class T>
ConstArray<T> ConstArray<T>::contiguous() const {
    return is_contiguous() ? *this : ConstArray(clone());
}

template <class T>
template <class F>
Array<T>& Array<T>::update(const ConstArray<T>& values, const F& f) {
    check(defined(), "array: one without elements cannot be written to: give it a shape first");
    check(broadcasts_to(values.shape(), this->shape()),
          "array: what is written in place must broadcast to the shape {}, got {}", this->shape(), values.shape());
    const ConstArray<T> apart = same_buffer(values) ? ConstArray<T>(values.clone()) : values;
    each_pair(*this, apart.broadcasted(this->shape()), [&f](T& x, T value) { x = f(x, value); });
    count_write();
    return *this;
}

template <class T>
Array<T>& Array<T>::operator=(const Values& values) && {
    return update(values, [](T, T value) { return value; });
}
// Applies f to numbers. clang 14 instantiates these operators for BFloat16, which has no arithmetic; they are never
// called.
template <class T, class F>
static auto with_numbers(F f) {
    return [=](T x, [[maybe_unused]] T value) {
        if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(f(x, value));
        return x;
    };
}

template <class T>
Array<T>& Array<T>::operator+=(const Values& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::plus<>()));
}
template <class T>
Array<T>& Array<T>::operator-=(const Values& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::minus<>()));
}
template <class T>
Array<T>& Array<T>::operator*=(const Values& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::multiplies<>()));
}
template <class T>
Array<T>& Array<T>::operator/=(const Values& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::divides<>()));
}

static void check_shapes(const char* op, const Shape& a, const Shape& b) {
    check(a == b, "{}: shapes must be equal, got {} and {}", op, a, b);
}

template <class T>
void copy_into(Array<T>& dst, const ConstArray<std::type_identity_t<T>>& src) {
    check_shapes("copy", dst.shape(), src.shape());
    profile::count_bytes(static_cast<double>(2 * dst.size() * sizeof(T)));
    each_pair(dst, src, Assign());
}

template <class T>
void add_into(Array<T>& dst, const ConstArray<std::type_identity_t<T>>& src) {
    check_shapes("add", dst.shape(), src.shape());
    profile::count_bytes(static_cast<double>(3 * dst.size() * sizeof(T)));
    each_pair(dst, src, [](T& to, T from) { to += from; });
}

template class ConstArray<float>;
template class ConstArray<double>;
template class ConstArray<std::int32_t>;
template class ConstArray<std::uint8_t>;
template class ConstArray<BFloat16>;
template class Array<float>;
template class Array<double>;
template class Array<std::int32_t>;
template class Array<std::uint8_t>;
template class Array<BFloat16>;
template void copy_into(Array<float>&, const ConstArray<float>&);
template void copy_into(Array<double>&, const ConstArray<double>&);
template void copy_into(Array<std::int32_t>&, const ConstArray<std::int32_t>&);
template void copy_into(Array<std::uint8_t>&, const ConstArray<std::uint8_t>&);
template void copy_into(Array<BFloat16>&, const ConstArray<BFloat16>&);
template void add_into(Array<float>&, const ConstArray<float>&);
template void add_into(Array<double>&, const ConstArray<double>&);

}  // namespace inkling

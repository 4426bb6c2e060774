#include "engine/array.h"

#include <cstdint>

#include "engine/bfloat16.h"
#include "engine/broadcast.h"
#include "engine/kernels/strided.h"
#include "engine/profile.h"

namespace inkling {

std::size_t size_of(const Shape& shape) {
    std::size_t n = 1;
    for (const std::size_t d : shape) {
        check(!__builtin_mul_overflow(n, d, &n), "array: the number of elements of shape {} is too large", shape);
    }
    return n;
}

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

Strides row_major_strides(const Shape& shape) {
    Strides strides(shape.size());
    std::ptrdiff_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = shape[i] == 1 ? 0 : step;
        step *= static_cast<std::ptrdiff_t>(shape[i]);
    }
    return strides;
}

std::size_t normalize_axis(const char* op, std::ptrdiff_t axis, std::size_t rank) {
    const auto r = static_cast<std::ptrdiff_t>(rank);
    check(axis >= -r && axis < r, "{}: axis {} must be between {} and {}", op, axis, -r, r - 1);
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

// Nearly every file copies, moves and destroys arrays: this is compiled here, once.
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
ConstArray<T>::ConstArray(std::shared_ptr<Buffer> owner, const T* data, const Shape& shape, const Strides& strides)
    : storage_(std::move(data), size_of(shape)), owner_(std::move(owner)) {
    this->shape_impl() = shape;
    this->strides_impl() = strides;
    this->backstrides_impl().resize(shape.size());
    xt::adapt_strides(this->shape_impl(), this->strides_impl(), this->backstrides_impl());
}

template <class T>
Array<T>::Array() : storage_(nullptr, 1) {}
template <class T>
Array<T>::Array(const Shape& shape) : Array(std::make_shared<Buffer>(size_of(shape) * sizeof(T)), shape) {}
template <class T>
Array<T>::Array(std::shared_ptr<Buffer> owner, const Shape& shape)
    : storage_(static_cast<T*>(owner->data), size_of(shape)),
      elements_(std::move(owner), storage_.data(), shape, row_major_strides(shape)) {}
template <class T>
Array<T>::Array(const Shape& shape, T value) : Array(shape) {
    std::fill_n(this->data(), this->size(), value);
}
template <class T>
Array<T>::Array(T* data, ConstArray<T> elements)
    : storage_(std::move(data), elements.size()), elements_(std::move(elements)) {}
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
Array<T> Array<T>::writable(ConstArray<T> elements) {
    return Array(const_cast<T*>(elements.data()), std::move(elements));
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
    // Not contiguous: a view exists when the elements of each group of axes that is merged or split are evenly spaced.
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
          begin, end, step, k, this->shape());
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

namespace {

// row(to, step of to, from, step of from, n) for rows of dst and src.
template <class T>
using PairRow = FunctionRef<void(T* to, std::ptrdiff_t ts, const T* from, std::ptrdiff_t fs, std::size_t n)>;

template <class T>
void pairwise(const char* op, Array<T>& dst, const ConstArray<T>& src, PairRow<T> row) {
    check(dst.shape() == src.shape(), "{}: shapes must be equal, got {} and {}", op, dst.shape(), src.shape());
    T* const to = dst.data();
    const T* const from = src.data();
    StridedLoop(dst.shape(), {&dst.strides(), &src.strides()})
        .run([&](const auto& offsets, std::size_t n, const auto& steps) {
            row(to + offsets[0], steps[0], from + offsets[1], steps[1], n);
        });
}

}  // namespace

template <class T>
template <class F>
Array<T>& Array<T>::update(const ConstArray<T>& values, const F& f) {
    check(defined(), "array: one without elements cannot be written to: give it a shape first");
    check(broadcasts_to(values.shape(), this->shape()),
          "array: what is written in place must broadcast to the shape {}, got {}", this->shape(), values.shape());
    const ConstArray<T> apart = same_buffer(values) ? ConstArray<T>(values.clone()) : values;
    const auto row = [&f](T* to, std::ptrdiff_t ts, const T* from, std::ptrdiff_t fs, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i, to += ts, from += fs) *to = f(*to, *from);
    };
    pairwise<T>("array", *this, apart.broadcasted(this->shape()), row);
    count_write();
    return *this;
}

template <class T>
Array<T>& Array<T>::operator=(const ConstArray<T>& values) && {
    return update(values, [](T, T value) { return value; });
}
template <class T>
Array<T>& Array<T>::operator+=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, [](T x, T value) { return static_cast<T>(x + value); });
}
template <class T>
Array<T>& Array<T>::operator-=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, [](T x, T value) { return static_cast<T>(x - value); });
}
template <class T>
Array<T>& Array<T>::operator*=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, [](T x, T value) { return static_cast<T>(x * value); });
}
template <class T>
Array<T>& Array<T>::operator/=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, [](T x, T value) { return static_cast<T>(x / value); });
}

template <class T>
void copy_into(Array<T>& dst, const ConstArray<std::type_identity_t<T>>& src) {
    profile::count_bytes(static_cast<double>(2 * dst.size() * sizeof(T)));
    pairwise<T>("copy", dst, src, [](T* to, std::ptrdiff_t ts, const T* from, std::ptrdiff_t fs, std::size_t n) {
        if (ts == 1 && fs == 1) {
            std::copy_n(from, n, to);
        } else {
            for (std::size_t i = 0; i < n; ++i, to += ts, from += fs) *to = *from;
        }
    });
}

template <class T>
void add_into(Array<T>& dst, const ConstArray<std::type_identity_t<T>>& src) {
    profile::count_bytes(static_cast<double>(3 * dst.size() * sizeof(T)));
    pairwise<T>("add", dst, src, [](T* to, std::ptrdiff_t ts, const T* from, std::ptrdiff_t fs, std::size_t n) {
        if (ts == 1 && fs == 1) {
            for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
        } else {
            for (std::size_t i = 0; i < n; ++i, to += ts, from += fs) *to += *from;
        }
    });
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

fmt::format_context::iterator fmt::formatter<inkling::Shape>::format(const inkling::Shape& shape,
                                                                     fmt::format_context& context) const {
    const std::string text = inkling::to_string(shape);
    return std::copy(text.begin(), text.end(), context.out());
}

#include "engine/array/array.h"

#include <cstdint>
#include <functional>

#include "engine/array/bfloat16.h"
#include "engine/array/broadcast.h"
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
    parallel_for(
        this->size(), kLarge, [=](std::size_t begin, std::size_t end) { std::fill(to + begin, to + end, value); },
        kLine);
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

// Calls row(to, step of to, from, step of from, n) for rows of dst and src.
template <class T>
using PairRow = FunctionRef<void(T* to, std::ptrdiff_t ts, const T* from, std::ptrdiff_t fs, std::size_t n)>;

// A row of to[i] = f(to[i], from[i]).
template <class T, class F>
auto pair_row(const F& f) {
    return [&f](T* to, std::ptrdiff_t ts, const T* from, std::ptrdiff_t fs, std::size_t n) {
        if (ts == 1 && fs == 1) {
            for (std::size_t i = 0; i < n; ++i) to[i] = f(to[i], from[i]);
        } else {
            for (std::size_t i = 0; i < n; ++i, to += ts, from += fs) *to = f(*to, *from);
        }
    };
}

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
    pairwise<T>("array", *this, apart.broadcasted(this->shape()), pair_row<T>(f));
    count_write();
    return *this;
}

template <class T>
Array<T>& Array<T>::operator=(const ConstArray<T>& values) && {
    return update(values, [](T, T value) { return value; });
}
// Applies f to numbers. BFloat16 has no arithmetic, but clang 14 compiles its operators, too, though nobody can call
// them.
template <class T, class F>
static auto with_numbers(F f) {
    return [=](T x, [[maybe_unused]] T value) {
        if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(f(x, value));
        return x;
    };
}

template <class T>
Array<T>& Array<T>::operator+=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::plus<>()));
}
template <class T>
Array<T>& Array<T>::operator-=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::minus<>()));
}
template <class T>
Array<T>& Array<T>::operator*=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::multiplies<>()));
}
template <class T>
Array<T>& Array<T>::operator/=(const ConstArray<T>& values) requires std::is_arithmetic_v<T> {
    return update(values, with_numbers<T>(std::divides<>()));
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
    pairwise<T>("add", dst, src, pair_row<T>(std::plus<>()));
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

// Shapes and strides. Dims<T> is one number for each axis of an array, at most 16. The numbers are stored inside the
// object, so a copy allocates nothing. It meets xtensor's requirements for a shape. Loops copy and compare the numbers,
// because std::copy_n() and std::equal() call functions of the C library, which takes longer than the work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>

#include "engine/base/check.h"

namespace inkling {

template <class T>
class Dims {
  public:
    static constexpr std::size_t kMaxRank = 16;

    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using pointer = T*;
    using const_pointer = const T*;
    using iterator = T*;
    using const_iterator = const T*;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    Dims() { std::fill_n(values_, kFew, T{}); }
    Dims(const Dims& other) { *this = other; }
    Dims& operator=(const Dims& other) {  // most arrays have at most four axes: this copies half as much
        size_ = other.size_;
        for (std::size_t i = 0; i < kFew; ++i) values_[i] = other.values_[i];
        for (std::size_t i = kFew; i < size_; ++i) values_[i] = other.values_[i];
        return *this;
    }
    explicit Dims(std::size_t n, T value = {}) : Dims() { resize(n, value); }
    Dims(std::initializer_list<T> values) : Dims(values.begin(), values.end()) {}
    template <std::input_iterator It>
    Dims(It first, It last) : Dims() {
        assign(first, last);
    }

    template <std::input_iterator It>
    void assign(It first, It last) {
        set_size(static_cast<std::size_t>(std::distance(first, last)));
        std::transform(first, last, values_, [](auto x) { return static_cast<T>(x); });
    }
    void resize(std::size_t n, T value = {}) {  // new elements get the value
        const std::size_t old = size_;
        set_size(n);
        if (n > old) std::fill(values_ + old, values_ + n, value);
    }
    void push_back(T value) { resize(size_ + 1, value); }
    void pop_back() { --size_; }
    void insert(const_iterator before, T value) {
        const std::ptrdiff_t at = before - begin();
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
    }
    void clear() { size_ = 0; }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return values_[i]; }
    const T& operator[](std::size_t i) const { return values_[i]; }
    T& front() { return values_[0]; }
    const T& front() const { return values_[0]; }
    T& back() { return values_[size_ - 1]; }
    const T& back() const { return values_[size_ - 1]; }
    T* data() { return values_; }
    const T* data() const { return values_; }

    iterator begin() { return values_; }
    iterator end() { return values_ + size_; }
    const_iterator begin() const { return values_; }
    const_iterator end() const { return values_ + size_; }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    reverse_iterator rbegin() { return reverse_iterator(end()); }
    reverse_iterator rend() { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
    const_reverse_iterator crbegin() const { return rbegin(); }
    const_reverse_iterator crend() const { return rend(); }

    friend bool operator==(const Dims& a, const Dims& b) {
        bool equal = a.size_ == b.size_;
        for (std::size_t i = 0; equal && i < a.size_; ++i) equal = a.values_[i] == b.values_[i];
        return equal;
    }

  private:
    void set_size(std::size_t n) {
        check(n <= kMaxRank, "array: at most {} axes are possible, got {}", kMaxRank, n);
        size_ = n;
    }

    static constexpr std::size_t kFew = 4;  // these always have a value, and are always copied

    std::size_t size_ = 0;
    T values_[kMaxRank];
};

using Shape = Dims<std::size_t>;
using Strides = Dims<std::ptrdiff_t>;  // in elements; 0 along an axis of size 1 or a broadcast one

std::size_t size_of(const Shape& shape);    // product; 1 for a scalar
std::string to_string(const Shape& shape);  // "(2, 3)"
Strides row_major_strides(const Shape& shape);
bool is_row_major(const Shape& shape, const Strides& strides);

// The offset of entry `index`, in row-major order, of the first `axes` axes.
inline std::ptrdiff_t offset_of(std::size_t index, const Shape& shape, const Strides& strides, std::size_t axes) {
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = axes; axis-- > 0; index /= shape[axis])
        offset += static_cast<std::ptrdiff_t>(index % shape[axis]) * strides[axis];
    return offset;
}

// The axis counted from the front; a negative axis counts from the back. Throws if the axis does not exist.
std::size_t normalize_axis(const char* op, std::ptrdiff_t axis, std::size_t rank);

}  // namespace inkling

// Formats a shape for "{}". dims.cpp does the work, so that files that print shapes compile no formatting themselves.
template <>
struct fmt::formatter<inkling::Shape> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
    fmt::format_context::iterator format(const inkling::Shape& shape, fmt::format_context& context) const;
};

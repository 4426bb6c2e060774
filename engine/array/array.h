// Array<T>: a strided view on a shared, pooled buffer, and an xtensor expression that can be read, sliced and printed.
//   Array<float> a({2, 3}, 0.5f);            // filled; without the value: not initialised
//   Array<float> b = xt::xarray<float>{{1, 2}, {3, 4}};
//   Array<float> t = b.permuted({1, 0});     // a view: shares b's buffer, copies nothing
//   t = 2 * a;                               // assignment binds the variable t to a new array: b does not change
//   t += 1;  b.sliced(0, 0, 1) = a;          // these write to the elements in place; shapes are checked
// Copying an Array copies the handle, not the elements (clone() does that). ConstArray<T> is a read-only Array: an
// Array converts to it, and its copies and views are read-only too. Assign xtensor expressions to an Array at once: an
// expression kept in `auto` refers to its operands, which may be gone.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/array/xtensor_adapter.h"
#include "engine/base/dims.h"
#include "engine/memory/buffer_pool.h"

namespace inkling {

template <class E, class T>
concept ExpressionOf = std::convertible_to<typename E::value_type, T> && !std::same_as<E, Array<T>>;

template <class T>
class ConstArray : public xt::xstrided_container<ConstArray<T>>, public xt::xexpression<ConstArray<T>> {
    using Base = xt::xstrided_container<ConstArray<T>>;
    using Storage = typename Base::storage_type;

  public:
    ConstArray();  // no buffer: defined() is false
    ConstArray(const ConstArray&);
    ConstArray(ConstArray&&) noexcept;
    ~ConstArray();
    ConstArray& operator=(const ConstArray&);
    ConstArray& operator=(ConstArray&&) noexcept;
    template <ExpressionOf<T> E>
    ConstArray(const xt::xexpression<E>& expression)  // NOLINT: implicit on purpose
        : ConstArray(Array<T>(expression)) {}

    bool defined() const { return owner_ != nullptr; }
    std::size_t rank() const { return this->dimension(); }
    std::size_t dim(std::ptrdiff_t axis) const { return this->shape()[normalize_axis("dim", axis, rank())]; }
    bool is_contiguous() const;  // row-major without gaps

    // Views; each throws if the request does not fit the shape.
    ConstArray reshaped(const Shape& shape) const;  // a copy only when the strides do not allow a view
    ConstArray permuted(const Shape& axes) const;   // axis i of the result is axis axes[i] of this
    ConstArray transposed(std::ptrdiff_t a, std::ptrdiff_t b) const;
    ConstArray sliced(std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step = 1) const;
    ConstArray broadcasted(const Shape& shape) const;  // axes of size 1, and new ones in front, get stride 0

    Array<T> clone() const;         // a contiguous copy
    ConstArray contiguous() const;  // this, or a contiguous copy

    // Writes in place are counted for the whole buffer that views share.
    std::uint32_t version() const { return owner_ ? owner_->version.load(std::memory_order_relaxed) : 0; }
    bool shares_buffer() const { return owner_.use_count() > 1; }
    // True if no other handle shares the memory, and it belongs to the pool.
    bool can_overwrite() const { return is_contiguous() && !shares_buffer() && owner_ && owner_->pooled; }
    bool same_buffer(const ConstArray& other) const { return owner_ == other.owner_; }

  private:
    ConstArray(std::shared_ptr<Buffer> owner, const T* data, const Shape& shape, const Strides& strides);

    Storage& storage_impl() noexcept { return storage_; }
    const Storage& storage_impl() const noexcept { return storage_; }
    friend class xt::xcontainer<ConstArray<T>>;
    friend class Array<T>;

    Storage storage_;
    std::shared_ptr<Buffer> owner_;
};

template <class T>
class Array : public xt::xcontainer<Array<T>>, public xt::xexpression<Array<T>> {
    using Storage = typename xt::xcontainer<Array<T>>::storage_type;

  public:
    Array();                             // no buffer: defined() is false
    explicit Array(const Shape& shape);  // not initialised
    Array(const Shape& shape, T value);
    template <ExpressionOf<T> E>
    Array(const xt::xexpression<E>& expression)  // NOLINT: implicit on purpose
        : Array(Shape(expression.derived_cast().shape().begin(), expression.derived_cast().shape().end())) {
        xt::assign_data(*this, expression, false);
    }
    Array(const ConstArray<T>&) = delete;  // clone() it; a tensor's own elements are written by value_in_place()
    Array(const Array&);
    Array(Array&&) noexcept;
    ~Array();

    // Wraps external memory, such as NumPy's, without a copy; `keeper` owns it until the last view is gone. Without a
    // keeper the caller's memory must outlive the views. Strides are in elements and not negative.
    static Array over(T* elements, const Shape& shape, Strides strides, std::shared_ptr<void> keeper);

    operator const ConstArray<T>&() const noexcept { return elements_; }

    // A value to write in place: a number, or an array or an expression that broadcasts to the shape.
    struct Values : ConstArray<T> {  // NOLINT: implicit on purpose
        Values(const ConstArray<T>& values) : ConstArray<T>(values) {}
        Values(const Array& values) : ConstArray<T>(values.elements_) {}
        template <ExpressionOf<T> E>
        Values(const xt::xexpression<E>& values) : ConstArray<T>(values) {}
        template <std::convertible_to<T> V>
        Values(V number) : ConstArray<T>(Array(Shape{}, static_cast<T>(number))) {}
    };

    // Assigning to a variable binds it to another array. Assigning to the result of a call (a view, value_in_place())
    // writes to its elements.
    Array& operator=(const Array&) &;
    Array& operator=(Array&&) & noexcept;
    template <std::same_as<ConstArray<T>> C>
    Array& operator=(const C&) & = delete;
    template <class E>
    Array& operator=(const xt::xexpression<E>& expression) & {
        return *this = Array(expression);
    }
    Array& operator=(const Values& values) &&;

    // Write in place.
    Array& operator+=(const Values& values) requires std::is_arithmetic_v<T>;
    Array& operator-=(const Values& values) requires std::is_arithmetic_v<T>;
    Array& operator*=(const Values& values) requires std::is_arithmetic_v<T>;
    Array& operator/=(const Values& values) requires std::is_arithmetic_v<T>;

    bool defined() const { return elements_.defined(); }
    std::size_t rank() const { return elements_.rank(); }
    std::size_t dim(std::ptrdiff_t axis) const { return elements_.dim(axis); }
    bool is_contiguous() const { return elements_.is_contiguous(); }
    xt::layout_type layout() const noexcept { return xt::layout_type::dynamic; }

    // As in ConstArray. A broadcast view is read-only, because several of its elements share one place in memory.
    Array reshaped(const Shape& shape) const {
        return writable([&] { return elements_.reshaped(shape); });
    }
    Array permuted(const Shape& axes) const {
        return writable([&] { return elements_.permuted(axes); });
    }
    Array transposed(std::ptrdiff_t a, std::ptrdiff_t b) const {
        return writable([&] { return elements_.transposed(a, b); });
    }
    Array sliced(std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step = 1) const {
        return writable([&] { return elements_.sliced(axis, begin, end, step); });
    }
    ConstArray<T> broadcasted(const Shape& shape) const { return elements_.broadcasted(shape); }
    Array clone() const { return elements_.clone(); }
    Array contiguous() const {
        return writable([&] { return elements_.contiguous(); });
    }

    std::uint32_t version() const { return elements_.version(); }
    void count_write() { elements_.owner_->version.fetch_add(1, std::memory_order_relaxed); }
    bool shares_buffer() const { return elements_.shares_buffer(); }
    bool can_overwrite() const { return elements_.can_overwrite(); }
    bool same_buffer(const ConstArray<T>& other) const { return elements_.same_buffer(other); }

  private:
    // The array that view() returns, made in place.
    template <class View>
    Array(std::in_place_t, const View& view)
        : elements_(view()), storage_(const_cast<T*>(elements_.data()), elements_.storage_.size()) {}
    template <class View>
    static Array writable(const View& view) {
        return Array(std::in_place, view);
    }
    template <class F>
    Array& update(const ConstArray<T>& values, const F& f);  // x[i] = f(x[i], values[i])

    const Shape& shape_impl() const noexcept { return elements_.shape_impl(); }
    const Strides& strides_impl() const noexcept { return elements_.strides_impl(); }
    const Strides& backstrides_impl() const noexcept { return elements_.backstrides_impl(); }
    Storage& storage_impl() noexcept { return storage_; }
    const Storage& storage_impl() const noexcept { return storage_; }
    friend class xt::xcontainer<Array<T>>;
    friend class ConstArray<T>;
    friend class Tensor<T>;

    ConstArray<T> elements_;
    Storage storage_;  // the memory of elements_
};

extern template class ConstArray<float>;
extern template class ConstArray<double>;
extern template class ConstArray<std::int32_t>;
extern template class ConstArray<std::uint8_t>;
extern template class Array<float>;
extern template class Array<double>;
extern template class Array<std::int32_t>;
extern template class Array<std::uint8_t>;

using IdArray = Array<std::int32_t>;    // token ids, class labels
using MaskArray = Array<std::uint8_t>;  // 0 is false; anything else true

// dst = src, or dst += src, in parallel; equal shapes, any strides.
template <class T>
void copy_into(Array<T>& dst, const ConstArray<std::type_identity_t<T>>& src);
template <class T>
void add_into(Array<T>& dst, const ConstArray<std::type_identity_t<T>>& src);

}  // namespace inkling

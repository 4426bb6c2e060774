// Array<T>: a strided view on a shared, pooled buffer, and an xtensor expression that can be read, sliced and printed.
//   Array<float> a({2, 3}, 0.5f);            // filled; without the value: not initialised
//   Array<float> b = xt::xarray<float>{{1, 2}, {3, 4}};
//   Array<float> t = b.permuted({1, 0});     // a view: shares b's buffer, copies nothing
// Copying an Array copies the handle, not the elements (clone() does that). Assign xtensor expressions to an Array at
// once: one kept in `auto` refers to what it was made from. This is the one place where xtensor's types are named.
#pragma once

#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "engine/buffer_pool.h"
#include "engine/extents.h"

namespace inkling {

using Shape = Extents<std::size_t>;
using Strides = Extents<std::ptrdiff_t>;  // in elements; 0 along an axis of size 1 or a broadcast one

std::size_t size_of(const Shape& shape);    // product; 1 for a scalar
std::string to_string(const Shape& shape);  // "(2, 3)"
Strides row_major_strides(const Shape& shape);

// The axis counted from the front; a negative one counts from the back. Throws when there is no such axis.
std::size_t normalize_axis(const char* op, std::ptrdiff_t axis, std::size_t rank);

template <class T>
class Array;

}  // namespace inkling

// xtensor's extension points: what makes Array one of its containers, and Extents their shape.
template <class X, class T>
struct xt::rebind_container<X, inkling::Extents<T>> {
    using type = inkling::Extents<X>;
};
template <class T>
struct xt::xcontainer_inner_types<inkling::Array<T>> {
    using storage_type = xt::xbuffer_adaptor<T*, xt::no_ownership, std::allocator<T>>;
    using reference = T&;
    using const_reference = const T&;
    using size_type = std::size_t;
    using shape_type = inkling::Shape;
    using strides_type = inkling::Strides;
    using backstrides_type = inkling::Strides;
    using inner_shape_type = shape_type;
    using inner_strides_type = strides_type;
    using inner_backstrides_type = backstrides_type;
    using temporary_type = inkling::Array<T>;
    static constexpr xt::layout_type layout = xt::layout_type::dynamic;
};
template <class T>
struct xt::xiterable_inner_types<inkling::Array<T>> : xt::xcontainer_iterable_types<inkling::Array<T>> {};

namespace inkling {

template <class T>
class Array : public xt::xstrided_container<Array<T>>, public xt::xcontainer_semantic<Array<T>> {
    using Base = xt::xstrided_container<Array<T>>;
    using Storage = typename Base::storage_type;

  public:
    Array() : storage_(nullptr, 1) {}  // no buffer: defined() is false
    explicit Array(const Shape& shape) : Array(std::make_shared<Buffer>(size_of(shape) * sizeof(T)), shape) {}
    Array(const Shape& shape, T value) : Array(shape) { std::fill_n(this->data(), this->size(), value); }

    template <class E>
    Array(const xt::xexpression<E>& expression)  // NOLINT: implicit on purpose
        : Array(Shape(expression.derived_cast().shape().begin(), expression.derived_cast().shape().end())) {
        xt::xcontainer_semantic<Array<T>>::assign(expression);
    }
    template <class E>
    Array& operator=(const xt::xexpression<E>& expression) {
        return *this = Array(expression);
    }

    Array(const Array&) = default;
    Array(Array&&) = default;
    Array& operator=(const Array&) = default;
    Array& operator=(Array&&) = default;
    ~Array() = default;

    bool defined() const { return owner_ != nullptr; }
    std::size_t rank() const { return this->dimension(); }
    std::size_t dim(std::ptrdiff_t axis) const { return this->shape()[normalize_axis("dim", axis, rank())]; }
    bool is_contiguous() const;  // row-major without gaps

    // Views; each throws when the request does not fit the shape.
    Array reshaped(const Shape& shape) const;  // a copy only when the strides do not allow a view
    Array permuted(const Shape& axes) const;   // axis i of the result is axis axes[i] of this
    Array transposed(std::ptrdiff_t a, std::ptrdiff_t b) const;
    Array sliced(std::ptrdiff_t axis, std::size_t begin, std::size_t end, std::size_t step = 1) const;
    Array broadcasted(const Shape& shape) const;  // axes of size 1, and new ones in front, get stride 0

    Array clone() const;       // a contiguous copy
    Array contiguous() const;  // this, or a contiguous copy

    // Writes in place are counted for the whole buffer that views share.
    std::uint32_t version() const { return owner_ ? owner_->version.load(std::memory_order_relaxed) : 0; }
    void count_write() { owner_->version.fetch_add(1, std::memory_order_relaxed); }
    bool shares_buffer() const { return owner_.use_count() > 1; }
    bool same_buffer(const Array& other) const { return owner_ == other.owner_; }

  private:
    Array(std::shared_ptr<Buffer> owner, const Shape& shape)
        : Array(owner, static_cast<T*>(owner->data), shape, row_major_strides(shape)) {}
    Array(std::shared_ptr<Buffer> owner, T* data, const Shape& shape, const Strides& strides)
        : storage_(std::move(data), size_of(shape)), owner_(std::move(owner)) {
        this->shape_impl() = shape;
        this->strides_impl() = strides;
        this->backstrides_impl().resize(shape.size());
        xt::adapt_strides(this->shape_impl(), this->strides_impl(), this->backstrides_impl());
    }

    Storage& storage_impl() noexcept { return storage_; }
    const Storage& storage_impl() const noexcept { return storage_; }
    friend class xt::xcontainer<Array<T>>;

    Storage storage_;
    std::shared_ptr<Buffer> owner_;
};

extern template class Array<float>;
extern template class Array<double>;
extern template class Array<std::int32_t>;
extern template class Array<std::uint8_t>;

using IdArray = Array<std::int32_t>;    // token ids, class labels
using MaskArray = Array<std::uint8_t>;  // 0 is false; anything else true

// dst = src, or dst += src; equal shapes, any strides. In parallel.
template <class T>
void copy_into(Array<T>& dst, const Array<T>& src);
template <class T>
void add_into(Array<T>& dst, const Array<T>& src);

}  // namespace inkling

template <>
struct fmt::formatter<inkling::Shape> : fmt::formatter<std::string> {
    template <class Context>
    auto format(const inkling::Shape& shape, Context& context) const {
        return fmt::formatter<std::string>::format(inkling::to_string(shape), context);
    }
};

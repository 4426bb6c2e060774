// Makes Array and ConstArray containers of xtensor: the types that it asks of a container. Only this file and array.h
// name xtensor's types.
#pragma once

// xtensor has a constant PI; a program may have a macro of that name.
#pragma push_macro("PI")
#undef PI
#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>
#pragma pop_macro("PI")

#include <memory>
#include <type_traits>

#include "engine/base/dims.h"

namespace inkling {

template <class T>
class Array;
template <class T>
class ConstArray;
template <class T>
class Tensor;

template <class T>  // const for a ConstArray
struct ArrayTypes {
    using storage_type = xt::xbuffer_adaptor<T*, xt::no_ownership, std::allocator<std::remove_const_t<T>>>;
    using reference = T&;
    using const_reference = const T&;
    using size_type = std::size_t;
    using shape_type = Shape;
    using strides_type = Strides;
    using backstrides_type = Strides;
    using inner_shape_type = shape_type;
    using inner_strides_type = strides_type;
    using inner_backstrides_type = backstrides_type;
    using temporary_type = Array<std::remove_const_t<T>>;
    static constexpr xt::layout_type layout = xt::layout_type::dynamic;
};

}  // namespace inkling

// xtensor's extension points: both arrays are its containers, and Dims is their shape.
template <class X, class T>
struct xt::rebind_container<X, inkling::Dims<T>> {
    using type = inkling::Dims<X>;
};
template <class T>
struct xt::xcontainer_inner_types<inkling::Array<T>> : inkling::ArrayTypes<T> {};
template <class T>
struct xt::xcontainer_inner_types<inkling::ConstArray<T>> : inkling::ArrayTypes<const T> {};
template <class T>
struct xt::xiterable_inner_types<inkling::Array<T>> : xt::xcontainer_iterable_types<inkling::Array<T>> {};
template <class T>
struct xt::xiterable_inner_types<inkling::ConstArray<T>> : xt::xcontainer_iterable_types<inkling::ConstArray<T>> {};

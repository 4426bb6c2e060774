// x[key], with NumPy's rules: integers, slices, ..., None, and arrays of integers or booleans.
#pragma once

#include "python/bind/any_tensor.h"

namespace inkling::python {

// A key that is an array of integers or booleans, as a NumPy array; nothing for other keys.
inline nb::object array_key(nb::handle key) {
    if (PyLong_Check(key.ptr()) || nb::isinstance<nb::slice>(key) || nb::isinstance<nb::str>(key) ||
        nb::isinstance<AnyTensor>(key))
        return {};
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(key);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    const bool selects = kind == "b" || ((kind == "i" || kind == "u") && nb::cast<int>(array.attr("ndim")) > 0);
    return selects ? array : nb::object();
}

// The number of axes that a key indexes: a mask's rank, else 1.
inline std::ptrdiff_t axes_named(nb::handle key) {
    const nb::object array = array_key(key);
    const bool mask = array.is_valid() && nb::cast<std::string>(array.attr("dtype").attr("kind")) == "b";
    return mask ? nb::cast<std::ptrdiff_t>(array.attr("ndim")) : 1;
}

// x[..., array, ...]: replaces `axis` by the axes of an array of integers, or the axes that a mask indexes by one.
template <class T>
Tensor<T> take(Tensor<T> x, std::ptrdiff_t axis, nb::object array) {
    if (nb::cast<std::string>(array.attr("dtype").attr("kind")) == "b") {
        const auto rank = nb::cast<std::ptrdiff_t>(array.attr("ndim"));
        for (std::ptrdiff_t i = 0; i < rank; ++i) {
            if (nb::cast<std::size_t>(array.attr("shape")[i]) != x.dim(axis + i))
                throw nb::index_error(fmt::format("[]: a mask must have the sizes of the axes that it stands for, got "
                                                  "another size of axis {} of shape {}",
                                                  axis + i, x.shape())
                                          .c_str());
        }
        x = flatten(x, axis, axis + rank - 1);
        array = nb::module_::import_("numpy").attr("flatnonzero")(array);
    }
    IdArray ids = nb::cast<IdArray>(array).clone();
    const auto size = static_cast<std::int32_t>(x.dim(axis));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::int32_t& id = ids.data()[i];
        if (id < -size || id >= size)
            throw nb::index_error(
                fmt::format("index {} is out of bounds for axis {} with size {}", id, axis, size).c_str());
        if (id < 0) id += size;
    }
    Shape shape;
    for (std::ptrdiff_t i = 0; i < axis; ++i) shape.push_back(x.dim(i));
    for (const std::size_t n : ids.shape()) shape.push_back(n);
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < x.rank(); ++i) shape.push_back(x.shape()[i]);
    return reshape(index_select(x, axis, ids.reshaped({ids.size()})), shape);
}

// x[keys] with several arrays, or an array beside integers: NumPy computes the positions.
template <class T>
Tensor<T> take_places(const Tensor<T>& x, const nb::object& keys) {
    const nb::object numpy = nb::module_::import_("numpy");
    const nb::object places = numpy.attr("arange")(x.size()).attr("reshape")(nb::cast(x.shape()))[keys];
    const auto rank = nb::cast<std::size_t>(numpy.attr("ndim")(places));
    check(rank <= Shape::kMaxRank, "[]: at most {} axes are possible, got {}", Shape::kMaxRank, rank);
    const IdArray ids = nb::cast<IdArray>(numpy.attr("asarray")(places, "int32"));
    return reshape(index_select(flatten(x), 0, ids.reshaped({ids.size()})), ids.shape());
}

// x[key] for all keys above.
template <class T>
Tensor<T> item_of(Tensor<T> x, nb::handle key) {
    const nb::object keys = nb::isinstance<nb::tuple>(key) ? nb::borrow(key) : nb::object(nb::make_tuple(key));
    const nb::handle ellipsis = Py_Ellipsis;
    std::ptrdiff_t named = 0, axis = 0, gone = 0;  // axes left to index; the current axis; axes removed
    int arrays = 0, integers = 0, ellipses = 0;
    for (const nb::handle k : keys) {
        ellipses += k.is(ellipsis);
        if (k.is_none() || k.is(ellipsis)) continue;
        named += axes_named(k);
        const bool array = array_key(k).is_valid();
        arrays += array;
        integers += !array && PyIndex_Check(k.ptr());  // NumPy arrays also have __index__
    }
    const auto rank = static_cast<std::ptrdiff_t>(x.rank());
    if (named > rank)
        throw nb::index_error(
            fmt::format("[]: too many indices: at most {} are possible for shape {}, got {}", rank, x.shape(), named)
                .c_str());
    if (ellipses > 1) throw nb::index_error("[]: at most a single ellipsis (...) is possible");
    if (arrays > 1 || (arrays == 1 && integers > 0)) return take_places(x, keys);
    for (const nb::handle k : keys) {
        if (k.is(ellipsis)) {
            axis = static_cast<std::ptrdiff_t>(x.rank()) - named;
            continue;
        }
        if (k.is_none()) {
            x = unsqueeze(x, axis++);
            continue;
        }
        named -= axes_named(k);
        const auto size = static_cast<Py_ssize_t>(x.dim(axis));
        if (nb::isinstance<nb::slice>(k)) {
            Py_ssize_t begin = 0, end = 0, step = 0;
            if (PySlice_Unpack(k.ptr(), &begin, &end, &step) < 0) throw nb::python_error();
            const auto count = static_cast<std::size_t>(PySlice_AdjustIndices(size, &begin, &end, step));
            if (step < 0) {
                IdArray ids(Shape{count});
                for (std::size_t i = 0; i < count; ++i)
                    ids.data()[i] = static_cast<std::int32_t>(begin + static_cast<Py_ssize_t>(i) * step);
                x = index_select(x, axis, ids);
            } else if (begin != 0 || end != size || step != 1) {
                x = slice(x, axis, static_cast<std::size_t>(begin), static_cast<std::size_t>(std::max(begin, end)),
                          static_cast<std::size_t>(step));
            }
            ++axis;
            continue;
        }
        if (const nb::object array = array_key(k); array.is_valid()) {
            const std::size_t before = x.rank();
            const std::ptrdiff_t replaced = axes_named(k);
            x = take(x, axis, array);
            axis += static_cast<std::ptrdiff_t>(x.rank() - before) + replaced;
            continue;
        }
        if (!PyIndex_Check(k.ptr()))
            throw nb::index_error("[]: integers, slices, ..., None, and arrays of integers or bools are required");
        const Py_ssize_t given = PyNumber_AsSsize_t(k.ptr(), PyExc_IndexError), at = given < 0 ? given + size : given;
        if (given == -1 && PyErr_Occurred()) throw nb::python_error();
        if (at < 0 || at >= size)
            throw nb::index_error(
                fmt::format("index {} is out of bounds for axis {} with size {}", given, axis + gone, size).c_str());
        const auto place = static_cast<std::size_t>(at);
        x = squeeze(slice(x, axis, place, place + 1), axis);
        ++gone;
    }
    return x;
}

}  // namespace inkling::python

// x[key], with NumPy's rules: integers, slices, ..., None, and arrays of integers or booleans.
#pragma once

#include "python/bind/any_tensor.h"

namespace inkling::python {

// One of the keys in x[...].
struct Key {
    nb::handle own;
    nb::object array = {};    // if it is an array of integers or booleans
    bool mask = false;        // of booleans
    std::ptrdiff_t axes = 1;  // that it indexes
};

inline Key key_of(nb::handle key) {
    if (key.is_none() || key.is(Py_Ellipsis)) return {.own = key, .axes = 0};
    if ((PyLong_Check(key.ptr()) && !PyBool_Check(key.ptr())) || nb::isinstance<nb::slice>(key) ||
        nb::isinstance<nb::str>(key) || nb::isinstance<AnyTensor>(key))
        return {.own = key};
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(key);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    const auto rank = nb::cast<std::ptrdiff_t>(array.attr("ndim"));
    if (kind == "b") return {key, array, true, rank};
    if ((kind == "i" || kind == "u") && rank > 0) return {.own = key, .array = array};
    return {.own = key};
}

// x[..., array, ...]: replaces `axis` by the axes of an array of integers, or the axes that a mask indexes by one.
template <class T>
Tensor<T> take(Tensor<T> x, std::ptrdiff_t axis, const Key& key) {
    nb::object array = key.array;
    if (key.mask) {
        for (std::ptrdiff_t i = 0; i < key.axes; ++i) {
            if (nb::cast<std::size_t>(array.attr("shape")[i]) != x.dim(axis + i))
                throw_as(nb::index_error,
                         "[]: a mask must have the sizes of the axes that it stands for, got another size of axis {} "
                         "of shape {}",
                         axis + i, x.shape());
        }
        x = key.axes == 0 ? unsqueeze(x, axis) : flatten(x, axis, axis + key.axes - 1);
        array = nb::module_::import_("numpy").attr("flatnonzero")(array);
    }
    IdArray ids = nb::cast<IdArray>(array).clone();
    const auto size = static_cast<std::int32_t>(x.dim(axis));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::int32_t& id = ids.data()[i];
        if (id < -size || id >= size)
            throw_as(nb::index_error, "index {} is out of bounds for axis {} with size {}", id, axis, size);
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
    const nb::object all = nb::isinstance<nb::tuple>(key) ? nb::borrow(key) : nb::object(nb::make_tuple(key));
    std::ptrdiff_t named = 0, axis = 0, gone = 0;  // axes left to index; the current axis; axes removed
    int arrays = 0, integers = 0, ellipses = 0;
    std::vector<Key> keys;
    for (const nb::handle k : all) {
        const Key& added = keys.emplace_back(key_of(k));
        named += added.axes;
        ellipses += k.is(Py_Ellipsis);
        arrays += added.array.is_valid();
        integers += !added.array.is_valid() && PyIndex_Check(k.ptr());  // NumPy arrays also have __index__
    }
    const auto rank = static_cast<std::ptrdiff_t>(x.rank());
    if (named > rank)
        throw_as(nb::index_error, "[]: too many indices: at most {} are possible for shape {}, got {}", rank, x.shape(),
                 named);
    if (ellipses > 1) throw nb::index_error("[]: at most a single ellipsis (...) is possible");
    if (arrays > 1 || (arrays == 1 && integers > 0)) return take_places(x, all);
    for (const Key& each : keys) {
        const nb::handle k = each.own;
        if (k.is(Py_Ellipsis)) {
            axis = static_cast<std::ptrdiff_t>(x.rank()) - named;
            continue;
        }
        if (k.is_none()) {
            x = unsqueeze(x, axis++);
            continue;
        }
        named -= each.axes;
        if (each.array.is_valid()) {
            const std::size_t before = x.rank();
            x = take(x, axis, each);
            axis += static_cast<std::ptrdiff_t>(x.rank() - before) + each.axes;
            continue;
        }
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
        if (!PyIndex_Check(k.ptr()))
            throw nb::index_error("[]: integers, slices, ..., None, and arrays of integers or bools are required");
        const Py_ssize_t given = PyNumber_AsSsize_t(k.ptr(), PyExc_IndexError), at = given < 0 ? given + size : given;
        if (given == -1 && PyErr_Occurred()) throw nb::python_error();
        if (at < 0 || at >= size)
            throw_as(nb::index_error, "index {} is out of bounds for axis {} with size {}", given, axis + gone, size);
        const auto place = static_cast<std::size_t>(at);
        x = squeeze(slice(x, axis, place, place + 1), axis);
        ++gone;
    }
    return x;
}

}  // namespace inkling::python

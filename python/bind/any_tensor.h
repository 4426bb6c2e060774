// Tensors of float32 and of float64 as one Python class, and the conversion of arrays, shapes and names between Python
// and C++. NumPy arrays are shared in both directions, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/array/axes.h"
#include "engine/autograd/tensor.h"
#include "engine/base/names.h"
#include "engine/base/precision.h"
#include "engine/ops.h"

namespace inkling {

// Names that only Python uses; C++ programs write the enums.
constexpr auto names(Reduction) {
    return name_table<Reduction>({{Reduction::mean, "mean"}, {Reduction::sum, "sum"}, {Reduction::none, "none"}});
}
constexpr auto names(Masked) {
    return name_table<Masked>({{Masked::error, "error"}, {Masked::uniform, "uniform"}, {Masked::zero, "zero"}});
}
constexpr auto names(RotaryPairs) {
    return name_table<RotaryPairs>({{RotaryPairs::halves, "halves"}, {RotaryPairs::interleaved, "interleaved"}});
}
constexpr auto names(Padding) {
    return name_table<Padding>(
        {{Padding::reflect, "reflect"}, {Padding::replicate, "replicate"}, {Padding::circular, "circular"}});
}
constexpr auto names(Scatter) {
    return name_table<Scatter>({{Scatter::replace, "replace"},
                                {Scatter::sum, "sum"},
                                {Scatter::prod, "prod"},
                                {Scatter::mean, "mean"},
                                {Scatter::max, "max"},
                                {Scatter::min, "min"}});
}
constexpr auto names(Interpolation) {
    return name_table<Interpolation>({{Interpolation::nearest, "nearest"},
                                      {Interpolation::nearest_exact, "nearest-exact"},
                                      {Interpolation::linear, "linear"}});
}

}  // namespace inkling

namespace inkling::python {

namespace nb = nanobind;

enum class DType { float32, float64 };
constexpr auto names(DType) { return name_table<DType>({{DType::float32, "float32"}, {DType::float64, "float64"}}); }
struct DTypeError : Error {  // a TypeError, too
    using Error::Error;
};
template <class T>
inline constexpr DType kDType = std::is_same_v<T, float> ? DType::float32 : DType::float64;

// Calls body<T>() with the T of a dtype.
template <class Body>
decltype(auto) with_type(DType type, const Body& body) {
    return type == DType::float32 ? body.template operator()<float>() : body.template operator()<double>();
}

struct AnyTensor {
    std::variant<Tensor<float>, Tensor<double>> tensor;
    // For a layer's parameter: sets in the layer whether it requires a gradient, and returns the layer's tensor.
    std::shared_ptr<const std::function<AnyTensor(bool)>> require_grad = nullptr;

    template <class T>
    AnyTensor(Tensor<T> t) : tensor(std::move(t)) {}  // NOLINT: implicit on purpose
    DType dtype() const { return tensor.index() == 0 ? DType::float32 : DType::float64; }
    // Throws, naming the op, if the tensor has another dtype.
    template <class T>
    const Tensor<T>& as(const char* op) const {
        check<DTypeError>(kDType<T> == dtype(),
                          "{}: expected tensors of one dtype, got float32 and float64: use astype()", op);
        return *std::get_if<Tensor<T>>(&tensor);
    }
};

// A tensor argument: a copy, because another thread may assign to the variable. Empty for None, where None is accepted.
struct TensorArgument {
    std::optional<AnyTensor> tensor;
};

// Calls f with the Tensor<float> or Tensor<double>.
template <class F>
decltype(auto) visit(const AnyTensor& x, const F& f) {
    return std::visit(f, x.tensor);
}
inline bool requires_grad(const AnyTensor& x) {
    return visit(x, [](auto& t) { return t.requires_grad(); });
}

// A method of the Python class, from a function of the object over either type:
//   method<AnyTensor>([](auto& t) { return t.rank(); })
template <class Any, class F>
auto method(const F& f) {
    return [f](const Any& x) { return visit(x, f); };
}

// Throws an exception of Python: throw_as(nb::index_error, "index {} is out of bounds", i).
template <class... A>
[[noreturn]] void throw_as(nb::builtin_exception (*kind)(const char*), fmt::format_string<A...> text,
                           A&&... arguments) {
    throw kind(fmt::format(text, std::forward<A>(arguments)...).c_str());
}

// The tensor that a user's function returned. Throws TypeError, naming the caller, for anything else.
inline const AnyTensor& returned_tensor(const char* caller, const nb::object& value) {
    if (!nb::isinstance<AnyTensor>(value))
        throw_as(nb::type_error, "{}: the function must return a Tensor, got {}", caller,
                 nb::type_name(value.type()).c_str());
    return nb::cast<const AnyTensor&>(value);
}

// Types that show as NumPy's in signatures.
inline bool any_object(PyObject*) { return true; }
class NumpyArray : public nb::object {
    NB_OBJECT(NumpyArray, nb::object, "numpy.ndarray", any_object)
};
class ArrayLike : public nb::object {
    NB_OBJECT(ArrayLike, nb::object, "numpy.typing.ArrayLike", any_object)
};

// A tensor over anything that NumPy converts to an array. Writable arrays of float32 and float64 are shared; others,
// and arrays with negative strides, are copied. Without a dtype, everything but an array of float64 becomes float32.
AnyTensor tensor_over(nb::handle data, std::optional<DType> dtype, bool requires_grad);

// A NumPy view of an array: it shares the memory, which lives as long as either.
template <class T>
NumpyArray numpy_view(const ConstArray<T>& array, bool writable = false);

// Convert integers that fit into 32 bits, and booleans; nothing for other data. Arrays of int32 and bool are shared.
std::optional<IdArray> ids_from(nb::handle data) noexcept;
std::optional<MaskArray> mask_from(nb::handle data) noexcept;

// Keeps a Python object alive as long as a buffer or a graph needs it.
std::shared_ptr<void> keeper_of(nb::object object);

// NumPy's axis=: () names no axis. PyTorch's dim=() names all.
struct ArrayAxes {
    Axes axes;
    bool none = false;
};

}  // namespace inkling::python

namespace nanobind::detail {

// A number. Refuses a tensor that requires a gradient, since float() drops its graph.
template <>
struct type_caster<double> {
    NB_TYPE_CASTER(double, const_name("float"))
    bool from_python(handle src, uint32_t flags, cleanup_list*) noexcept {
        if (!PyFloat_CheckExact(src.ptr()) && !(flags & static_cast<uint32_t>(cast_flags::convert))) return false;
        if (isinstance<inkling::python::AnyTensor>(src) &&
            inkling::python::requires_grad(cast<const inkling::python::AnyTensor&>(src)))
            return false;
        value = PyFloat_AsDouble(src.ptr());
        if (value != -1 || !PyErr_Occurred()) return true;
        PyErr_Clear();
        return false;
    }
    static handle from_cpp(double x, rv_policy, cleanup_list*) noexcept { return PyFloat_FromDouble(x); }
};

// An integer or a sequence of integers.
template <class List>
struct int_list_caster {
    NB_TYPE_CASTER(List, const_name("int | collections.abc.Sequence[int]"))
    bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
        value.clear();
        const auto add = [&](PyObject* number) {
            if (PyBool_Check(number)) return false;
            const Py_ssize_t n = PyNumber_AsSsize_t(number, nullptr);  // clamps numbers that are too large
            if (n == -1 && PyErr_Occurred()) {
                PyErr_Clear();
                return false;
            }
            if (value.size() == inkling::Shape::kMaxRank) return false;
            value.push_back(static_cast<typename List::value_type>(n));
            return true;
        };
        if (PyIndex_Check(src.ptr())) return add(src.ptr());
        if (!PySequence_Check(src.ptr()) || PyUnicode_Check(src.ptr())) return false;
        const Py_ssize_t n = PySequence_Size(src.ptr());
        if (n < 0) return PyErr_Clear(), false;
        for (Py_ssize_t i = 0; i < n; ++i) {
            const object item = steal(PySequence_GetItem(src.ptr(), i));
            if (!item.is_valid() || !add(item.ptr())) return PyErr_Clear(), false;
        }
        return true;
    }
    static handle from_cpp(const List& list, rv_policy, cleanup_list*) noexcept {
        const auto n = static_cast<Py_ssize_t>(list.size());
        PyObject* const tuple = PyTuple_New(n);
        for (Py_ssize_t i = 0; tuple && i < n; ++i)
            PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(static_cast<Py_ssize_t>(list[static_cast<std::size_t>(i)])));
        return tuple;
    }
};
template <>
struct type_caster<inkling::Shape> : int_list_caster<inkling::Shape> {};
template <>
struct type_caster<inkling::AxisSizes> : int_list_caster<inkling::AxisSizes> {};
template <>
struct type_caster<inkling::OpenShape> {
    NB_TYPE_CASTER(inkling::OpenShape, const_name("int | collections.abc.Sequence[int]"))
    type_caster() : value(inkling::Shape()) {}
    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
        int_list_caster<inkling::Dims<std::ptrdiff_t>> list;
        if (!list.from_python(src, flags, cleanup)) return false;
        static_cast<inkling::Dims<std::ptrdiff_t>&>(value) = list.value;
        return true;
    }
};
template <>
struct type_caster<inkling::Axes> : int_list_caster<inkling::Axes> {
    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!src.is_none()) return int_list_caster::from_python(src, flags, cleanup);
        value.clear();  // empty: all axes
        return true;
    }
};
template <>
struct type_caster<inkling::python::ArrayAxes> {
    NB_TYPE_CASTER(inkling::python::ArrayAxes, make_caster<inkling::Axes>::Name)
    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<inkling::Axes> given;
        if (!given.from_python(src, flags, cleanup)) return false;
        value = {given.value, given.value.empty() && !src.is_none()};
        return true;
    }
};

// NumPy arrays, and what NumPy converts to them. None, where it is accepted, is an undefined array.
template <class List, std::optional<List> (*from)(handle) noexcept>
struct array_caster {
    NB_TYPE_CASTER(List, const_name("numpy.typing.ArrayLike"))
    bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
        if (src.is_none()) return true;
        auto array = from(src);
        if (array) value = std::move(*array);
        return array.has_value();
    }
    static handle from_cpp(const List& array, rv_policy, cleanup_list*) noexcept {
        return inkling::python::numpy_view<typename List::value_type>(array, true).release();
    }
};
template <>
struct type_caster<inkling::IdArray> : array_caster<inkling::IdArray, &inkling::python::ids_from> {};
template <>
struct type_caster<inkling::MaskArray> : array_caster<inkling::MaskArray, &inkling::python::mask_from> {};

template <>
struct type_caster<inkling::python::TensorArgument> {
    NB_TYPE_CASTER(inkling::python::TensorArgument, make_caster<inkling::python::AnyTensor>::Name)
    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (src.is_none()) return true;
        make_caster<inkling::python::AnyTensor> given;
        if (!given.from_python(src, flags, cleanup)) return false;
        value.tensor = given.operator inkling::python::AnyTensor&();
        return true;
    }
};

// Enums by their names in flags and files (engine/base/names.h).
template <class E>
requires requires { names(E()); }
struct type_caster<E, enable_if_t<std::is_enum_v<E>>> {
    NB_TYPE_CASTER(E, const_name("str"))
    bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
        const char* const text = PyUnicode_Check(src.ptr()) ? PyUnicode_AsUTF8AndSize(src.ptr(), nullptr) : nullptr;
        const auto found = text ? inkling::find_named<E>(text) : std::nullopt;
        if (found) value = *found;
        return found.has_value();
    }
    static handle from_cpp(E name, rv_policy, cleanup_list*) noexcept {
        return PyUnicode_FromString(inkling::name_of(name));
    }
};

}  // namespace nanobind::detail

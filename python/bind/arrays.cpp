#include "python/bind/any_tensor.h"

namespace inkling::python {
namespace {

nb::object as_array(nb::handle data, const char* dtype = nullptr) {
    const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
    return dtype ? asarray(data, dtype) : asarray(data);
}

// An Array over the memory of a NumPy array, whose strides must allow it.
template <class T, class Stored = T>
Array<T> shared(const nb::object& array) {
    const auto view = nb::cast<nb::ndarray<const Stored, nb::device::cpu>>(array, false);
    Shape shape(view.ndim());
    Strides strides(view.ndim());
    for (std::size_t i = 0; i < view.ndim(); ++i) shape[i] = view.shape(i), strides[i] = view.stride(i);
    auto* const elements = const_cast<T*>(reinterpret_cast<const T*>(view.data()));
    return Array<T>::over(elements, shape, strides, keeper_of(array));
}

// Shares the array if possible, else copies it.
template <class T, class Stored = T>
Array<T> shared_or_copied(nb::object array, bool must_be_writable) {
    const nb::object flags = array.attr("flags");
    bool fits = nb::cast<bool>(flags.attr("aligned")) &&
                (!must_be_writable || nb::cast<bool>(flags.attr("writeable"))) &&
                nb::cast<bool>(array.attr("dtype").attr("isnative"));
    for (const nb::handle stride : array.attr("strides")) {
        const auto bytes = nb::cast<std::ptrdiff_t>(stride);
        fits = fits && bytes >= 0 && bytes % static_cast<std::ptrdiff_t>(sizeof(T)) == 0;
    }
    if (!fits) {
        const nb::object type = array.attr("dtype").attr("newbyteorder")("=");
        array = nb::module_::import_("numpy").attr("array")(array, type, nb::arg("order") = "C");
    }
    return shared<T, Stored>(array);
}

}  // namespace

std::shared_ptr<void> keeper_of(nb::object object) {
    return {object.release().ptr(), [](void* kept) {
                if (!Py_IsInitialized()) return;  // the interpreter has ended
                const nb::gil_scoped_acquire interpreter;
                Py_DECREF(static_cast<PyObject*>(kept));
            }};
}

AnyTensor tensor_over(nb::handle data, std::optional<DType> dtype, bool requires_grad) {
    if (nb::isinstance<AnyTensor>(data)) {
        const auto& tensor = nb::cast<const AnyTensor&>(data);
        return with_type(dtype.value_or(tensor.dtype()), [&]<class T>() {
            return visit(tensor, [&](const auto& x) {
                using From = typename std::remove_cvref_t<decltype(x)>::value_type;
                if constexpr (std::is_same_v<From, T>)
                    return AnyTensor(Tensor<T>(x.value(), requires_grad));
                else
                    return AnyTensor(Tensor<T>(ConstArray<T>(Array<T>(xt::cast<T>(x.value()))), requires_grad));
            });
        });
    }
    nb::object array = as_array(data);
    const nb::object type = array.attr("dtype");
    const auto name = nb::cast<std::string>(type.attr("name")), kind = nb::cast<std::string>(type.attr("kind"));
    if (kind != "f" && kind != "i" && kind != "u" && kind != "b")
        throw nb::type_error(fmt::format("Tensor: expected numbers, got dtype {}", name).c_str());
    if (!dtype) dtype = name == "float64" && nb::hasattr(data, "dtype") ? DType::float64 : DType::float32;
    array = as_array(array, name_of(*dtype));
    return with_type(*dtype, [&]<class T>() {
        return AnyTensor(Tensor<T>(ConstArray<T>(shared_or_copied<T>(array, true)), requires_grad));
    });
}

template <class T>
NumpyArray numpy_view(const ConstArray<T>& array, bool writable) {
    using Stored = std::conditional_t<std::is_same_v<T, std::uint8_t>, bool, T>;
    auto kept = std::make_unique<ConstArray<T>>(array);
    std::int64_t strides[Shape::kMaxRank];
    std::copy(array.strides().begin(), array.strides().end(), strides);
    auto* const elements = reinterpret_cast<Stored*>(const_cast<T*>(array.data()));
    const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<ConstArray<T>*>(p); });
    static_cast<void>(kept.release());
    const std::size_t rank = array.rank();
    if (writable)
        return nb::borrow<NumpyArray>(
            nb::cast(nb::ndarray<nb::numpy, Stored>(elements, rank, array.shape().data(), owner, strides)));
    return nb::borrow<NumpyArray>(
        nb::cast(nb::ndarray<nb::numpy, const Stored>(elements, rank, array.shape().data(), owner, strides)));
}
template NumpyArray numpy_view(const ConstArray<float>&, bool);
template NumpyArray numpy_view(const ConstArray<double>&, bool);
template NumpyArray numpy_view(const ConstArray<std::int32_t>&, bool);
template NumpyArray numpy_view(const ConstArray<std::uint8_t>&, bool);

std::optional<IdArray> ids_from(nb::handle data) noexcept try {
    const nb::object array = as_array(data);
    const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    const bool empty = nb::cast<std::size_t>(array.attr("size")) == 0;  // NumPy makes empty lists float
    if (kind != "i" && kind != "u" && !empty) return std::nullopt;
    const nb::object ids = as_array(array, "int32");
    if (!ids.is(array) && !nb::cast<bool>(nb::module_::import_("numpy").attr("array_equal")(ids, array)))
        return std::nullopt;
    return shared_or_copied<std::int32_t>(ids, false);
} catch (const std::exception&) {
    return std::nullopt;
}

std::optional<MaskArray> mask_from(nb::handle data) noexcept try {
    nb::object array = as_array(data);
    const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "b" && kind != "i" && kind != "u") return std::nullopt;
    if (kind != "b") array = array.attr("astype")("bool");
    return shared_or_copied<std::uint8_t, bool>(array, false);
} catch (const std::exception&) {
    return std::nullopt;
}

}  // namespace inkling::python

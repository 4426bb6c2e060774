// Random keys, and tensors made from shapes: Tensor.zeros, Tensor.randn and the like.
#include "engine/base/random.h"
#include "python/bind/bind.h"

namespace inkling::python {
namespace {

// Makes a leaf with the value make<T>().
template <class Make>
AnyTensor leaf(DType type, const Make& make) {
    const nb::gil_scoped_release others_run;
    return with_type(type, [&]<class T>() { return AnyTensor(make.template operator()<T>()); });
}

}  // namespace

void bind_random(nb::module_& m) {
    nb::class_<RandomKey>(m, "RandomKey", "Selects a sequence of random numbers.")
        .def(nb::init<std::uint64_t, std::uint64_t>(), "seed"_a = 0, "stream"_a = 0)
        .def_rw("seed", &RandomKey::seed)
        .def_rw("stream", &RandomKey::stream)
        .def("__reduce__", [](const RandomKey& k) {
            return nb::make_tuple(nb::type<RandomKey>(), nb::make_tuple(k.seed, k.stream));
        });
    nb::class_<Generator>(m, "Generator", "Hands out keys, one per use: the streams of one seed in order.")
        .def(nb::init<std::uint64_t, std::uint64_t>(), "seed"_a = 1337, "next_stream"_a = 0)
        .def_rw("seed", &Generator::seed)
        .def_rw("next_stream", &Generator::next_stream)
        .def("next", &Generator::next, "The next key.")
        .def("__reduce__", [](const Generator& g) {
            return nb::make_tuple(nb::type<Generator>(), nb::make_tuple(g.seed, g.next_stream));
        });
}

void bind_creation(nb::class_<AnyTensor>& c) {
    constexpr DType f32 = DType::float32;
    c.def_static(
        "full",
        [](const Shape& shape, double value, bool requires_grad, DType dtype) {
            return leaf(dtype, [&]<class T>() { return Tensor<T>::full(shape, static_cast<T>(value), requires_grad); });
        },
        "shape"_a, "value"_a, "requires_grad"_a = false, "dtype"_a = f32);
    c.def_static(
        "zeros",
        [](const Shape& shape, bool requires_grad, DType dtype) {
            return leaf(dtype, [&]<class T>() { return Tensor<T>::zeros(shape, requires_grad); });
        },
        "shape"_a, "requires_grad"_a = false, "dtype"_a = f32);
    c.def_static(
        "ones",
        [](const Shape& shape, bool requires_grad, DType dtype) {
            return leaf(dtype, [&]<class T>() { return Tensor<T>::ones(shape, requires_grad); });
        },
        "shape"_a, "requires_grad"_a = false, "dtype"_a = f32);
    c.def_static(
        "arange",
        [](double begin, std::optional<double> end, double step, DType dtype) {
            return leaf(dtype, [&]<class T>() {
                return end ? Tensor<T>::arange(begin, *end, step) : Tensor<T>::arange(0, begin, step);
            });
        },
        "begin"_a, "end"_a = nb::none(), "step"_a = 1, "dtype"_a = f32,
        "begin, begin + step, ... before end; arange(n) begins at 0.");
    c.def_static(
        "randn",
        [](const Shape& shape, const RandomKey& key, bool requires_grad, DType dtype) {
            return leaf(dtype, [&]<class T>() { return Tensor<T>::randn(shape, key, requires_grad); });
        },
        "shape"_a, "key"_a, "requires_grad"_a = false, "dtype"_a = f32, "Standard normal numbers of one key.");
    c.def_static(
        "rand",
        [](const Shape& shape, const RandomKey& key, bool requires_grad, DType dtype) {
            return leaf(dtype, [&]<class T>() { return Tensor<T>::rand(shape, key, requires_grad); });
        },
        "shape"_a, "key"_a, "requires_grad"_a = false, "dtype"_a = f32, "Uniform in [0, 1), of one key.");
}

}  // namespace inkling::python

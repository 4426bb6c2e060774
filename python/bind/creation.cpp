// Random keys, and tensors made from shapes: Tensor.zeros, Tensor.randn and the like.
#include "engine/base/random.h"
#include "python/bind/bind.h"

namespace inkling::python {

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
        .def(
            "manual_seed",
            [](nb::handle_t<Generator> self, std::uint64_t seed) {
                nb::cast<Generator&>(self) = Generator(seed);
                return self;
            },
            "seed"_a, "Begins again with this seed. Returns the generator.")
        .def("__reduce__", [](const Generator& g) {
            return nb::make_tuple(nb::type<Generator>(), nb::make_tuple(g.seed, g.next_stream));
        });
    m.attr("default_generator") = default_random();
}

void bind_creation(nb::class_<AnyTensor>& c) {
    const auto make = [&](const char* name, const auto& f, const char* doc, const auto&... extra) {
        c.def_static(name, python_function(name, f), doc, extra..., "dtype"_a = DType::float32);
    };
    const auto requires_grad = "requires_grad"_a = false;
    make(
        "full",
        []<class T>(const Shape& shape, double value, bool grad, DType) {
            return Tensor<T>::full(shape, static_cast<T>(value), grad);
        },
        "", "shape"_a, "value"_a, requires_grad);
    make(
        "zeros", []<class T>(const Shape& shape, bool grad, DType) { return Tensor<T>::zeros(shape, grad); }, "",
        "shape"_a, requires_grad);
    make(
        "ones", []<class T>(const Shape& shape, bool grad, DType) { return Tensor<T>::ones(shape, grad); }, "",
        "shape"_a, requires_grad);
    make(
        "arange",
        []<class T>(double begin, std::optional<double> end, double step, DType) {
            return end ? Tensor<T>::arange(begin, *end, step) : Tensor<T>::arange(0, begin, step);
        },
        "begin, begin + step, ... before end; arange(n) begins at 0.", "begin"_a, "end"_a = nb::none(), "step"_a = 1);
    make(
        "randn",
        []<class T>(const Shape& shape, const RandomKey& key, bool grad, DType) {
            return Tensor<T>::randn(shape, key, grad);
        },
        "Standard normal numbers of one key.", "shape"_a, "key"_a, requires_grad);
    make(
        "rand",
        []<class T>(const Shape& shape, const RandomKey& key, bool grad, DType) {
            return Tensor<T>::rand(shape, key, grad);
        },
        "Uniform in [0, 1), of one key.", "shape"_a, "key"_a, requires_grad);
}

}  // namespace inkling::python

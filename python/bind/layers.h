// A layer of nn/ as a Python class: its constructor takes a dtype after its arguments.
//   forward(layer<nn::Linear, Generator&, std::size_t, std::size_t, bool>(m, "Linear", doc, "random"_a, ...), doc,
//   "x"_a);
#pragma once

#include "python/bind/define.h"

namespace inkling::python {

// A constructor argument for a copy of the layer. The copy takes over the values, so any generator will do.
template <class X>
nb::object again(const X& x) {
    return nb::cast(x);
}
inline nb::object again(const Generator&) { return nb::cast(Generator()); }

// Defines nn.Linear(2, 3) beside nn.Linear(random, 2, 3).
template <class C, class L, class... A, class Random, class... Extra>
void define_without_generator(C& c, void (*init)(L*, Generator&, A...), const Random&, const Extra&... extra) {
    c.def(
        "__init__", [init](L* self, A... arguments) { init(self, default_generator(), arguments...); }, extra...);
}
template <class C, class F, class... Extra>
void define_without_generator(C&, F, const Extra&...) {}

template <template <class> class Layer, class... A, class... Extra>
nb::class_<AnyLayer<Layer>, AnyModule> layer(nb::module_& m, const char* name, const char* doc, const Extra&... extra) {
    nb::class_<AnyLayer<Layer>, AnyModule> c(m, name, doc);
    void (*const init)(AnyLayer<Layer>*, A..., DType) = [](AnyLayer<Layer>* self, A... arguments, DType dtype) {
        AnyLayer<Layer> made;
        with_type(dtype, [&]<class T>() { made.own = std::make_shared<Layer<T>>(arguments...); });
        made.made = nb::make_tuple(nb::type<AnyLayer<Layer>>(), again(arguments)..., dtype);
        new (self) AnyLayer<Layer>(std::move(made));
    };
    const auto dtype = "dtype"_a = DType::float32;
    c.def("__init__", init, extra..., dtype);
    define_without_generator(c, init, extra..., dtype);
    return c;
}

// Defines forward() and the call of a layer: the layer's own forward, or f.
template <class C, class F, class... Extra>
void forward_by(C c, const F& f, const char* doc, const Extra&... extra) {
    define(c, "forward", f, doc, extra...);
    c.attr("__call__") = c.attr("forward");
}
template <template <class> class Layer, class... Extra>
void forward(nb::class_<AnyLayer<Layer>, AnyModule> c, const char* doc, const Extra&... extra) {
    forward_by(c, Both{&Layer<float>::forward, &Layer<double>::forward}, doc, extra...);
}

}  // namespace inkling::python

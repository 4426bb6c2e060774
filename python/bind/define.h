// Defines a C++ function template over float and double as one Python function, from its signature:
//   define(m, "gelu", BOTH(gelu), "docstring", "x"_a);
//   define(m, "softmax", []<class T>(const Tensor<T>& x, std::ptrdiff_t axis) { return softmax(x, axis); }, ...);
// Python passes Tensor, lists of Tensor, layers or DType where C++ takes them over T, and the first of these arguments
// decides T. An argument whose default is None is then an undefined tensor or array. The function runs without the
// interpreter lock, so other Python threads can run.
#pragma once

#include <nanobind/stl/pair.h>

#include <concepts>
#include <functional>
#include <map>
#include <memory>

#include "nn/attention/scaled_dot_product.h"
#include "nn/module.h"
#include "python/bind/any_tensor.h"

namespace inkling::python {

using nb::literals::operator""_a;

// A layer: a module over float or double.
struct AnyModule {
    std::variant<std::shared_ptr<nn::Module<float>>, std::shared_ptr<nn::Module<double>>> own;
    nb::object made;  // for copies: a tuple of a callable and its arguments; none if it cannot be made again
    // Parameters as they were when x.requires_grad = False froze them; True puts them back, as optimizers know them.
    std::shared_ptr<std::map<std::string, AnyTensor>> frozen = std::make_shared<std::map<std::string, AnyTensor>>();

    virtual ~AnyModule() = default;
    DType dtype() const { return own.index() == 0 ? DType::float32 : DType::float64; }
    template <class T>
    nn::Module<T>& module() const {
        return *std::get<std::shared_ptr<nn::Module<T>>>(own);
    }
};
template <class F>
decltype(auto) visit(const AnyModule& module, const F& f) {
    return std::visit([&](const auto& own) -> decltype(auto) { return f(*own); }, module.own);
}
template <template <class> class Layer>
struct AnyLayer : AnyModule {};

// What is random without a generator of its own; inkling.manual_seed() sets it.
inline Generator& default_generator() {
    static Generator generator;
    return generator;
}
inline nb::object default_random() { return nb::cast(&default_generator(), nb::rv_policy::reference); }

// The Python type of an argument X of the function over float; get<T>() converts it to the argument over T.
template <class X>
struct Argument {
    using Python = X;
    static std::optional<DType> dtype(const X&) { return std::nullopt; }
    template <class T>
    static const X& get(const char*, const X& x) {
        return x;
    }
};
template <>
struct Argument<DType> {
    using Python = DType;
    static std::optional<DType> dtype(DType x) { return x; }
    template <class T>
    static DType get(const char*, DType x) {
        return x;
    }
};
template <>
struct Argument<Tensor<float>> {
    using Python = const TensorArgument&;
    static std::optional<DType> dtype(Python x) { return x.tensor ? std::optional(x.tensor->dtype()) : std::nullopt; }
    template <class T>
    static Tensor<T> get(const char* op, Python x) {
        return x.tensor ? x.tensor->as<T>(op) : Tensor<T>();
    }
};
template <>
struct Argument<Weight<float>> : Argument<Tensor<float>> {};
template <>
struct Argument<std::vector<Tensor<float>>> {
    using Python = const std::vector<AnyTensor>&;
    static std::optional<DType> dtype(Python x) { return x.empty() ? std::nullopt : std::optional(x[0].dtype()); }
    template <class T>
    static std::vector<Tensor<T>> get(const char* op, Python x) {
        std::vector<Tensor<T>> all;
        for (const AnyTensor& t : x) all.push_back(t.as<T>(op));
        return all;
    }
};
template <template <class> class Layer>
requires std::derived_from<Layer<float>, nn::Module<float>>
struct Argument<Layer<float>> {
    using Python = AnyLayer<Layer>&;
    static std::optional<DType> dtype(Python x) { return x.dtype(); }
    template <class T>
    static Layer<T>& get(const char* op, Python x) {
        check<DTypeError>(x.dtype() == kDType<T>, "{}: the layer has dtype {}, its input {}", op, name_of(x.dtype()),
                          name_of(kDType<T>));
        return static_cast<Layer<T>&>(x.template module<T>());
    }
};

// Converts a function's result for Python.
template <class X>
X returned(X x) {
    return x;
}
template <class T>
AnyTensor returned(Tensor<T> x) {
    return AnyTensor(std::move(x));
}
template <std::floating_point T>
AnyTensor returned(Array<T> x) {
    return AnyTensor(Tensor<T>(ConstArray<T>(std::move(x))));
}
template <class T>
std::vector<AnyTensor> returned(std::vector<Tensor<T>> all) {
    return {all.begin(), all.end()};
}
template <class T>
std::pair<AnyTensor, IdArray> returned(Ordered<T> x) {
    return {AnyTensor(std::move(x.values)), std::move(x.ids)};
}
template <class T>
std::pair<AnyTensor, std::optional<AnyTensor>> returned(nn::AttentionOutput<T> x) {
    if (!x.weights.defined()) return {AnyTensor(std::move(x.output)), std::nullopt};
    return {AnyTensor(std::move(x.output)), AnyTensor(std::move(x.weights))};
}

template <class F, class D>
struct Both {
    F single;
    D twice;
    template <class T>
    auto call(auto&&... arguments) const {
        if constexpr (std::is_same_v<T, float>)
            return std::invoke(single, arguments...);
        else
            return std::invoke(twice, arguments...);
    }
};
#define BOTH(f) \
    Both { &f<float>, &f<double> }

template <class F>
struct Generic {
    F f;
    template <class T>
    auto call(auto&&... arguments) const {
        return f.template operator()<T>(arguments...);
    }
};

template <class Function, class... A>
auto function_of(const char* name, Function function) {
    return [=](typename Argument<std::remove_cvref_t<A>>::Python... arguments) {
        std::optional<DType> type;
        ((type = type ? type : Argument<std::remove_cvref_t<A>>::dtype(arguments)), ...);
        const nb::gil_scoped_release others_run;
        return with_type(type.value_or(DType::float32), [&]<class T>() {
            const auto call = [&] {
                return function.template call<T>(Argument<std::remove_cvref_t<A>>::template get<T>(name, arguments)...);
            };
            if constexpr (std::is_void_v<decltype(call())>)
                call();
            else
                return returned(call());
        });
    };
}
template <class R, class... A, class D>
auto python_function(const char* name, Both<R (*)(A...), D> both) {
    return function_of<Both<R (*)(A...), D>, A...>(name, both);
}
template <class L, class R, class... A, class D>
auto python_function(const char* name, Both<R (L::*)(A...) const, D> both) {
    return function_of<Both<R (L::*)(A...) const, D>, L, A...>(name, both);
}
template <class F, class R, class... A>
auto python_function(const char* name, const F& f, R (F::*)(A...) const) {
    return function_of<Generic<F>, A...>(name, Generic<F>{f});
}
template <class F>
requires requires { &F::template operator()<float>; }
auto python_function(const char* name, const F& f) { return python_function(name, f, &F::template operator()<float>); }

// Defines a function in a module, or a method in a class, whose first argument is the object.
template <class Place, class F, class... Extra>
void define(Place& place, const char* name, const F& f, const char* doc, const Extra&... extra) {
    place.def(name, python_function(name, f), doc, extra...);
}

}  // namespace inkling::python

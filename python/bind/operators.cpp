// Python's operators: x + y, x // 2, x @ y, x += y.
#include <cmath>

#include "engine/array/map.h"
#include "python/bind/bind.h"

namespace inkling::python {
namespace {

// The other operand may be a number or an array, which becomes a constant of the tensor's dtype.
template <class F>
void define_operator(nb::class_<AnyTensor>& c, const char* name, const char* reflected, const F& f) {
    const auto define_as = [&c](const char* as, const auto& g) {
        c.def(as, python_function(as, g), nb::is_operator());
    };
    const auto with_array = [f](AnyTensor a, const ArrayLike& b, bool turned) {  // a copy: threads may assign to a
        const AnyTensor other = tensor_over(b, a.dtype(), false);
        const nb::gil_scoped_release others_run;
        return visit(a, [&]<class T>(const Tensor<T>& x) {
            const Tensor<T>& y = other.as<T>("operator");
            return AnyTensor(turned ? f(y, x) : f(x, y));
        });
    };
    define_as(name, [f]<class T>(const Tensor<T>& x, const Tensor<T>& y) { return f(x, y); });
    define_as(name, [f]<class T>(const Tensor<T>& x, double y) { return f(x, y); });
    c.def(
        name, [with_array](AnyTensor a, const ArrayLike& b) { return with_array(std::move(a), b, false); },
        nb::is_operator());
    define_as(reflected, [f]<class T>(const Tensor<T>& y, double x) { return f(x, y); });
    c.def(
        reflected, [with_array](AnyTensor a, const ArrayLike& b) { return with_array(std::move(a), b, true); },
        nb::is_operator());
}

// a / b rounded down, without a gradient.
template <class T>
Tensor<T> floor_divide(const Tensor<T>& a, const Tensor<T>& b) {
    const auto quotient = [](T u, T v) {
        const T rest = std::fmod(u, v), q = (u - rest) / v;
        return v == 0 ? u / v : std::copysign(std::round(q) - T(rest != 0 && (rest < 0) != (v < 0)), u / v);
    };
    return Tensor<T>(
        map_arrays<T>(broadcast_shape("//", a.shape(), b.shape()), lanewise<T>(quotient), a.value(), b.value()));
}

// Lets f of two tensors take a number for one of them.
template <class F>
auto of_tensors(const F& f) {
    return [f]<class A, class B>(const A& a, const B& b) {
        using T = ElementOf<A, B>;
        return f(as_tensor<T>(a), as_tensor<T>(b));
    };
}

}  // namespace

void bind_operators(nb::class_<AnyTensor>& c) {
    define_operator(c, "__add__", "__radd__", [](const auto& a, const auto& b) { return a + b; });
    define_operator(c, "__sub__", "__rsub__", [](const auto& a, const auto& b) { return a - b; });
    define_operator(c, "__mul__", "__rmul__", [](const auto& a, const auto& b) { return a * b; });
    define_operator(c, "__truediv__", "__rtruediv__", [](const auto& a, const auto& b) { return a / b; });
    define_operator(c, "__pow__", "__rpow__", [](const auto& a, const auto& b) { return pow(a, b); });
    define_operator(c, "__mod__", "__rmod__", of_tensors([](const auto& a, const auto& b) { return remainder(a, b); }));
    define_operator(c, "__floordiv__", "__rfloordiv__",
                    of_tensors([](const auto& a, const auto& b) { return floor_divide(a, b); }));
    define(
        c, "__neg__", []<class T>(const Tensor<T>& x) { return neg(x); }, "");
    define_operator(c, "__matmul__", "__rmatmul__",
                    of_tensors([](const auto& a, const auto& b) { return matmul(a, b); }));
    // y += x is y = y + x, except for a leaf, which would not change.
    const std::pair<const char*, const char*> in_place[] = {
        {"__add__", "+="}, {"__sub__", "-="}, {"__mul__", "*="}, {"__truediv__", "/="}};
    for (const auto& [plain, sign] : in_place) {
        const std::string name = std::string("__i") + (plain + 2);
        c.def(name.c_str(), [op = nb::object(c.attr(plain)), sign = sign](const nb::object& self,
                                                                          const nb::object& other) {
            visit(nb::cast<const AnyTensor&>(self), [&](const auto& x) {
                check(
                    !x.node() || !x.node()->is_leaf(),
                    "{}: the name would be bound to a new tensor, and the parameter stay as it is: write x.data {} ... "
                    "for the parameter itself, or a new tensor",
                    sign, sign);
            });
            return op(self, other);
        });
    }
}

}  // namespace inkling::python

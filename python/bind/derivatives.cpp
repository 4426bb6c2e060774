// gradients() and the derivatives built on it, of Python functions; inkling/_derivatives.py has grad().
#include "engine/more/derivatives.h"
#include "python/bind/bind.h"

namespace inkling::python {
namespace {

// A Python callable as a C++ function.
template <class T>
auto called(const nb::callable& f, const char* what) {
    return [&f, what](const Tensor<T>& x) { return returned_tensor(what, f(AnyTensor(x))).as<T>(what); };
}

}  // namespace

void bind_derivatives(nb::module_& m) {
    m.def(
        "_gradients",
        [](AnyTensor y, const std::vector<AnyTensor>& x, const std::optional<AnyTensor>& dy, bool create_graph,
           bool keep_graph) {
            const nb::gil_scoped_release others_run;
            return visit(y, [&]<class T>(const Tensor<T>& t) {
                std::vector<Tensor<T>> in;
                for (const AnyTensor& each : x) in.push_back(each.as<T>("grad"));
                const Tensor<T> cotangent = dy ? dy->as<T>("grad") : Tensor<T>();
                const auto found = gradients(t, in, {cotangent, create_graph, keep_graph});
                return std::vector<AnyTensor>(found.begin(), found.end());
            });
        },
        "y"_a, "x"_a, "dy"_a, "create_graph"_a, "keep_graph"_a);
    const auto of = [&]<class F>(const char* name, const F& derivative, const char* doc) {
        m.def(
            name,
            [name, derivative](const nb::callable& f, const AnyTensor& x) {
                return visit(x,
                             [&]<class T>(const Tensor<T>& t) { return AnyTensor(derivative(called<T>(f, name), t)); });
            },
            "f"_a, "x"_a, doc);
    };
    of(
        "jacobian", [](const auto&... in) { return jacobian(in...); }, "df/dx, with f's shape followed by x's.");
    of(
        "hessian", [](const auto&... in) { return hessian(in...); },
        "The second derivatives of a scalar f, with x's shape twice.");
    const auto along = [&]<class F>(const char* name, const F& derivative, const char* doc) {
        m.def(
            name,
            [name, derivative](const nb::callable& f, const AnyTensor& x, const AnyTensor& v) {
                return visit(x, [&]<class T>(const Tensor<T>& t) {
                    return AnyTensor(derivative(called<T>(f, name), t, v.as<T>(name)));
                });
            },
            "f"_a, "x"_a, "v"_a, doc);
    };
    along(
        "jvp", [](const auto&... in) { return jvp(in...); },
        "The Jacobian times v: the change of f as x moves along v.");
    along(
        "hvp", [](const auto&... in) { return hvp(in...); },
        "The Hessian of a scalar f times v, without building the Hessian.");
}

}  // namespace inkling::python

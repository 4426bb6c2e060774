// gradients() and the derivatives built on it, of Python functions; inkling/autograd.py has grad().
#include "engine/more/derivatives.h"
#include "python/bind/bind.h"

namespace inkling::python {
namespace {

// A Python function as a C++ function, which takes the interpreter lock for each call.
template <class T>
auto called(const nb::callable& f, const char* what) {
    return [&f, what](const Tensor<T>& x) {
        const nb::gil_scoped_acquire interpreter;
        return returned_tensor(what, f(AnyTensor(x))).as<T>(what);
    };
}

}  // namespace

void bind_derivatives(nb::module_& m) {
    m.def("_gradients",
          python_function("grad",
                          []<class T>(const Tensor<T>& y, const std::vector<Tensor<T>>& x, const Tensor<T>& dy,
                                      bool create_graph, bool keep_graph) {
                              return gradients(y, x, {dy, create_graph, keep_graph});
                          }),
          "y"_a, "x"_a, "dy"_a.none(), "create_graph"_a, "keep_graph"_a);
    define(
        m, "jacobian",
        []<class T>(const nb::callable& f, const Tensor<T>& x) { return jacobian(called<T>(f, "jacobian"), x); },
        "df/dx, with f's shape followed by x's.", "f"_a, "x"_a);
    define(
        m, "hessian",
        []<class T>(const nb::callable& f, const Tensor<T>& x) { return hessian(called<T>(f, "hessian"), x); },
        "The second derivatives of a scalar f, with x's shape twice.", "f"_a, "x"_a);
    define(
        m, "jvp",
        []<class T>(const nb::callable& f, const Tensor<T>& x, const Tensor<T>& v) {
            return jvp(called<T>(f, "jvp"), x, v);
        },
        "The Jacobian times v: the change of f as x moves along v.", "f"_a, "x"_a, "v"_a);
    define(
        m, "hvp",
        []<class T>(const nb::callable& f, const Tensor<T>& x, const Tensor<T>& v) {
            return hvp(called<T>(f, "hvp"), x, v);
        },
        "The Hessian of a scalar f times v, without building the Hessian.", "f"_a, "x"_a, "v"_a);
}

}  // namespace inkling::python

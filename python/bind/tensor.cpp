#include <sstream>

#include "engine/autograd/backward.h"
#include "engine/autograd/debug/watch.h"
#include "python/bind/bind.h"
#include "python/bind/cycles.h"
#include "python/bind/indexing.h"

namespace inkling::python {
namespace {

// The value as a read-only NumPy array.
NumpyArray value_of(const AnyTensor& x) {
    return visit(x, [](auto& t) { return numpy_view(t.value()); });
}

// Defines comparisons such as x < y, elementwise, as a NumPy array of bool; y is a tensor, a number or an array.
void define_comparison(nb::class_<AnyTensor>& c, const char* name) {
    const std::string op = name;
    c.def(
        name,
        [op](const AnyTensor& x, const nb::object& y) -> nb::object {
            if (y.is_none() || nb::isinstance<nb::str>(y)) return nb::borrow(Py_NotImplemented);
            const nb::object other = nb::isinstance<AnyTensor>(y) ? value_of(nb::cast<const AnyTensor&>(y)) : y;
            return value_of(x).attr(op.c_str())(other);
        },
        nb::is_operator());
}

bool is_leaf(const AnyTensor& x) {
    return visit(x, [](auto& t) { return !t.node() || t.node()->is_leaf(); });
}

// Throws for a tensor that would silently lose its graph.
void refuse_graph(const AnyTensor& x, const char* what) {
    if (requires_grad(x))
        throw_as(nb::type_error, "{} graph of a tensor that requires a gradient: pass x.detach()", what);
}

}  // namespace

nb::class_<AnyTensor> bind_tensor(nb::module_& m) {
    nb::class_<AnyTensor> c(m, "Tensor", nb::type_slots(tensor_slots),
                            "A value of float32 or float64 and, if it requires a gradient, the node of the graph that "
                            "computed it. It shares the memory of a NumPy array of its dtype.");
    c.def(
        "__init__",
        [](AnyTensor* self, const ArrayLike& data, bool requires_grad, std::optional<DType> dtype) {
            if (nb::isinstance<AnyTensor>(data))
                refuse_graph(nb::cast<const AnyTensor&>(data), "Tensor() would drop the");
            new (self) AnyTensor(tensor_over(data, dtype, requires_grad));
        },
        "data"_a, "requires_grad"_a = false, "dtype"_a = nb::none(),
        "A leaf over an array. A writable array of float32 or float64 is not copied; lists, numbers and other dtypes "
        "become float32.");
    bind_creation(c);

    c.def_prop_ro("shape", method<AnyTensor>([](auto& t) { return t.shape(); }));
    c.def_prop_ro("dtype", &AnyTensor::dtype, "'float32' or 'float64'");
    c.def_prop_ro("ndim", method<AnyTensor>([](auto& t) { return t.rank(); }));
    c.def_prop_ro("size", method<AnyTensor>([](auto& t) { return t.size(); }));
    c.def_prop_rw(
        "requires_grad", &requires_grad,
        [](AnyTensor& x, const nb::object& value) {
            if (!PyBool_Check(value.ptr())) throw nb::type_error("requires_grad: True or False is required");
            const bool on = value.is(nb::handle(Py_True));
            if (x.require_grad) {
                x.tensor = AnyTensor((*x.require_grad)(on)).tensor;
                return;
            }
            std::visit(
                [on]<class T>(Tensor<T>& t) {
                    if (on == t.requires_grad()) return;
                    check(!t.node() || t.node()->is_leaf(),
                          "requires_grad: of a leaf, got what '{}' made: use detach()", t.node() ? t.node()->op : "");
                    t = Tensor<T>(t.value(), on);
                },
                x.tensor);
        },
        "Whether backward() computes a gradient for it or for a tensor that it depends on. It can be set for a leaf.");
    c.def_prop_ro("is_leaf", &is_leaf, "Whether no op made it, or it requires no gradient.");
    c.def("__reduce__", [](const nb::object& self) {  // copy.deepcopy, pickle
        if (!is_leaf(nb::cast<const AnyTensor&>(self)))
            throw nb::type_error("only a leaf can be copied: the graph of others would be lost; use detach()");
        const nb::object values = self.attr("numpy")().attr("copy")();
        return nb::make_tuple(nb::type<AnyTensor>(), nb::make_tuple(values, self.attr("requires_grad")));
    });
    c.def("__dlpack_device__", [](const AnyTensor&) { return nb::make_tuple(1, 0); });  // the CPU
    c.def(
        "__dlpack__",
        [](const AnyTensor& x, const nb::kwargs& how) {
            refuse_graph(x, "DLPack would drop the");
            return visit(x, [&](auto& t) { return numpy_view(t.value(), true).attr("__dlpack__")(**how); });
        },
        "Shares the memory: torch.from_dlpack(x).");
    c.def("__len__", method<AnyTensor>([](auto& t) {
              if (t.rank() == 0) throw nb::type_error("len() of a tensor without axes");
              return t.dim(0);
          }));
    c.def("__iter__", [](const nb::object& x) {
        static_cast<void>(nb::len(x));  // throws for a tensor without axes
        return nb::typed<nb::iterator, AnyTensor>(nb::steal<nb::iterator>(PySeqIter_New(x.ptr())));
    });
    const auto item = method<AnyTensor>([](auto& t) { return static_cast<double>(t.item()); });
    c.def("item", item, "The only element; more elements are an error.");
    c.def("__float__", item);
    c.def("__int__", [](const nb::object& x) { return nb::int_(nb::float_(x)); });
    c.def("__format__", [](const nb::object& x, const nb::str& format) {  // f"{loss:.3f}"
        return nb::len(format) == 0 ? nb::str(x) : nb::str(nb::float_(x).attr("__format__")(format));
    });
    c.def("numpy", &value_of, "The value as a read-only NumPy array that shares its memory.");
    c.def(
        "__array__",
        [](const AnyTensor& x, nb::object dtype, nb::object copy) -> NumpyArray {
            refuse_graph(x, "NumPy would drop the");
            nb::object view = value_of(x);
            if (!dtype.is_none()) view = view.attr("astype")(dtype, nb::arg("copy") = false);
            if (!copy.is_none() && nb::cast<bool>(copy)) view = view.attr("copy")();
            return nb::borrow<NumpyArray>(view);
        },
        "dtype"_a = nb::none(), "copy"_a = nb::none());
    c.attr("__array_priority__") = 1000;  // array - tensor is a tensor
    c.def_prop_rw(
        "data",
        [](AnyTensor& x) {
            return std::visit([]<class T>(Tensor<T>& t) { return numpy_view<T>(t.value_in_place(), true); }, x.tensor);
        },
        [](AnyTensor& x, const ArrayLike& values) {
            const AnyTensor given = tensor_over(values, x.dtype(), false);
            std::visit(
                [&]<class T>(Tensor<T>& t) {
                    const ConstArray<T>& from = given.template as<T>("data").value();
                    if (from.data() != t.value().data() || from.shape() != t.shape()) t.value_in_place() = from;
                },
                x.tensor);
        },
        "The value as a NumPy array to write to: w.data -= 0.1 * w.grad. A graph that needs the old value then refuses "
        "to run backward.");
    c.def_prop_ro(
        "grad",
        [](const AnyTensor& x) {
            const auto wait = [](const auto& t) {  // another thread may be about to write to it
                const nb::gil_scoped_release others_run;
                return t.grad_if_any();
            };
            return visit(x, [&]<class T>(const Tensor<T>& t) -> std::optional<NumpyArray> {
                const Array<T> g = t.requires_grad() ? wait(Tensor<T>(t)) : Array<T>();
                if (!g.defined()) return std::nullopt;
                return numpy_view<T>(g, true);
            });
        },
        "The gradient, summed over every backward() since zero_grad(), as a NumPy array; None if no backward() reached "
        "the tensor. Leaves and tensors with retain_grad() have it.");
    define(
        c, "zero_grad", []<class T>(Tensor<T> x) { x.zero_grad(); }, "");
    define(
        c, "backward",
        []<class T>(const Tensor<T>& x, const Tensor<T>& dy, bool keep_graph) {
            x.backward(dy.defined() ? dy.value() : ConstArray<T>(), keep_graph ? Graph::keep : Graph::release);
        },
        "Adds d self / d leaf, times dy of self's shape, to every leaf's grad.", "dy"_a = nb::none(),
        "keep_graph"_a = false);
    define(
        c, "retain_grad", []<class T>(const Tensor<T>& x) { x.retain_grad(); },
        "Keeps the gradient of an intermediate tensor in grad.");
    c.def(
        "on_grad",
        [](AnyTensor x, nb::callable f) {
            visit(x, [f = KeptFunction(std::move(f))]<class T>(const Tensor<T>& t) {
                f.belong_to(t.node().get());
                const nb::gil_scoped_release others_run;
                t.on_grad([f](Array<T>& dy) {
                    const nb::gil_scoped_acquire interpreter;
                    const nb::object changed = f(numpy_view<T>(dy, true));
                    if (!changed.is_none())
                        dy = tensor_over(changed, kDType<T>, false).template as<T>("on_grad").value().clone();
                });
            });
        },
        "f"_a,
        "Calls f(dy) once in each backward, with the whole gradient as a NumPy array. f may write to dy or return "
        "another gradient, which backward then uses.");
    c.def("detach", method<AnyTensor>([](auto& t) { return AnyTensor(t.detach()); }),
          "The same value, cut from the graph.");
    c.def(
        "astype",
        [](const AnyTensor& x, DType dtype) {
            if (dtype == x.dtype()) return x;
            refuse_graph(x, "a cast would drop the");
            return tensor_over(nb::cast(x), dtype, false);
        },
        "dtype"_a,
        "The value in another dtype; the tensor itself if it has that dtype. A tensor that requires a gradient cannot "
        "be converted.");
    c.def(
        "__getitem__",
        [](const AnyTensor& x, const nb::object& key) {
            return visit(x, [&](auto& t) { return AnyTensor(item_of(t, key)); });
        },
        "key"_a.none());
    const auto set_item = [](const nb::object& self, const nb::object& key, const nb::object& values) {
        if (requires_grad(nb::cast<const AnyTensor&>(self)))
            throw nb::type_error("x[...] = v records no graph: write x.data[...] = v for the elements of a parameter");
        if (nb::isinstance<AnyTensor>(values) && requires_grad(nb::cast<const AnyTensor&>(values)))
            throw nb::type_error("x[...] = v records no graph: pass v.detach(), or use where() or scatter()");
        self.attr("data")[key] = values;
    };
    c.def("__setitem__", set_item, "key"_a.none(), "values"_a);
    for (const char* name : {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}) define_comparison(c, name);
    c.def("__bool__", method<AnyTensor>([](auto& t) {
              if (t.size() != 1)
                  throw nb::value_error(
                      "the truth of several elements is ambiguous: compare them, and use .any() or .all()");
              return t.item() != 0;
          }));
    c.def_prop_ro("T", method<AnyTensor>([](auto& t) {
                      Shape axes(t.rank());
                      for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
                      return AnyTensor(permute(t, axes));
                  }),
                  "The axes in reverse order.");
    c.def("__repr__", method<AnyTensor>([](auto& t) {
              std::ostringstream text;
              text << t;
              return text.str();
          }));

    return c;
}

}  // namespace inkling::python

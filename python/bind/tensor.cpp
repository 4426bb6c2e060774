#include <sstream>

#include "engine/autograd/anomaly.h"
#include "engine/autograd/backward.h"
#include "engine/autograd/graph_picture.h"
#include "engine/base/random.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/process/threads.h"
#include "python/bind/bind.h"
#include "python/bind/indexing.h"

namespace inkling::python {
namespace {

// x < y and the like, element by element, as NumPy's array of bool; y is a tensor, a number or an array.
void define_comparison(nb::class_<AnyTensor>& c, const char* name) {
    const std::string op = name;
    c.def(
        name,
        [op](const AnyTensor& x, const nb::object& y) -> nb::object {
            if (y.is_none() || nb::isinstance<nb::str>(y)) return nb::borrow(Py_NotImplemented);
            const auto value = [](const AnyTensor& t) {
                return visit(t, [](auto& typed) -> nb::object { return numpy_view(typed.value()); });
            };
            const nb::object other = nb::isinstance<AnyTensor>(y) ? value(nb::cast<const AnyTensor&>(y)) : y;
            return value(x).attr(op.c_str())(other);
        },
        nb::is_operator());
}

template <class T>
std::string text_of(const Tensor<T>& x) {
    std::ostringstream text;
    text << x;
    return text.str();
}

// A scope of C++ as a context manager: no_grad(), precision("bf16").
template <class Scope, class... A>
struct Context {
    std::tuple<A...> arguments;
    std::vector<std::shared_ptr<Scope>> entered;
};
template <class Scope, class... A, class... Extra>
void context(nb::module_& m, const char* name, const char* doc, const Extra&... extra) {
    using C = Context<Scope, A...>;
    nb::class_<C>(m, name, doc)
        .def(
            "__init__",
            [](C* self, A... arguments) {
                new (self) C{{arguments...}, {}};
            },
            extra...)
        .def("__enter__",
             [](C& self) {
                 self.entered.push_back(
                     std::apply([](auto&... a) { return std::make_shared<Scope>(a...); }, self.arguments));
             })
        .def("__exit__", [](C& self, nb::args) { self.entered.pop_back(); });
}

// Makes a leaf: make<T>() is its value.
template <class Make>
AnyTensor leaf(DType type, const Make& make) {
    const nb::gil_scoped_release others_run;
    return with_type(type, [&]<class T>() { return AnyTensor(make.template operator()<T>()); });
}

}  // namespace

nb::class_<AnyTensor> bind_tensor(nb::module_& m) {
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

    nb::class_<AnyTensor> c(m, "Tensor",
                            "A value of float32 or float64 and, when a gradient is wanted, the node of the graph that "
                            "made it. It shares the memory of a NumPy array of its dtype.");
    c.def(
        "__init__",
        [](AnyTensor* self, const ArrayLike& data, bool requires_grad, std::optional<DType> dtype) {
            new (self) AnyTensor(tensor_over(data, dtype, requires_grad));
        },
        "data"_a, "requires_grad"_a = false, "dtype"_a = nb::none(),
        "A leaf over an array, which is not copied if it is of float32 or float64 and can be written to; of lists, "
        "numbers and other dtypes, float32.");
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

    c.def_prop_ro("shape", [](const AnyTensor& x) { return visit(x, [](auto& t) { return t.shape(); }); });
    c.def_prop_ro("dtype", &AnyTensor::dtype, "'float32' or 'float64'");
    c.def_prop_ro("ndim", [](const AnyTensor& x) { return visit(x, [](auto& t) { return t.rank(); }); });
    c.def_prop_ro("size", [](const AnyTensor& x) { return visit(x, [](auto& t) { return t.size(); }); });
    c.def_prop_rw(
        "requires_grad", [](const AnyTensor& x) { return visit(x, [](auto& t) { return t.requires_grad(); }); },
        [](AnyTensor& x, bool on) {
            std::visit(
                [on]<class T>(Tensor<T>& t) {
                    if (on == t.requires_grad()) return;
                    check(!t.node() || t.node()->is_leaf(),
                          "requires_grad: of a leaf, got what '{}' made: use detach()", t.node() ? t.node()->op : "");
                    t = Tensor<T>(t.value(), on);
                },
                x.tensor);
        },
        "Whether backward() gives it, or what it depends on, a gradient; it may be set for a leaf.");
    c.def("__reduce__", [](const nb::object& self) {  // copy.deepcopy, pickle
        const auto& x = nb::cast<const AnyTensor&>(self);
        const bool leaf = visit(x, [](auto& t) { return !t.node() || t.node()->is_leaf(); });
        if (!leaf) throw nb::type_error("only a leaf can be copied: the graph of others would be lost; use detach()");
        const nb::object values = self.attr("numpy")().attr("copy")();
        return nb::make_tuple(nb::type<AnyTensor>(), nb::make_tuple(values, self.attr("requires_grad")));
    });
    c.def("__dlpack_device__", [](const AnyTensor&) { return nb::make_tuple(1, 0); });  // the CPU
    c.def(
        "__dlpack__",
        [](const AnyTensor& x, const nb::kwargs& how) {
            return visit(x, [&](auto& t) {
                if (t.requires_grad())
                    throw nb::type_error("a tensor that requires a gradient would lose its graph: pass x.detach()");
                return numpy_view(t.value(), true).attr("__dlpack__")(**how);
            });
        },
        "The memory, shared: torch.from_dlpack(x).");
    c.def("__len__", [](const AnyTensor& x) {
        return visit(x, [](auto& t) {
            if (t.rank() == 0) throw nb::type_error("len() of a tensor without axes");
            return t.dim(0);
        });
    });
    c.def(
        "item", [](const AnyTensor& x) { return visit(x, [](auto& t) { return static_cast<double>(t.item()); }); },
        "The one element; an error when there are more.");
    c.def("__float__",
          [](const AnyTensor& x) { return visit(x, [](auto& t) { return static_cast<double>(t.item()); }); });
    c.def(
        "numpy", [](const AnyTensor& x) { return visit(x, [](auto& t) { return numpy_view(t.value()); }); },
        "The value as a NumPy array that is read-only and shares its memory.");
    c.def(
        "__array__",
        [](const AnyTensor& x, nb::object dtype, nb::object copy) -> NumpyArray {
            if (visit(x, [](auto& t) { return t.requires_grad(); }))
                throw nb::type_error(
                    "NumPy would drop the graph of a tensor that requires a gradient: pass x.detach()");
            nb::object view = visit(x, [](auto& t) -> nb::object { return numpy_view(t.value()); });
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
            return visit(x, []<class T>(const Tensor<T>& t) { return numpy_view<T>(t.grad(), true); });
        },
        "The gradient, summed over every backward() since zero_grad(), as a NumPy array: of a leaf, or of what "
        "retain_grad() was called for.");
    c.def("zero_grad", [](AnyTensor& x) { std::visit([](auto& t) { t.zero_grad(); }, x.tensor); });
    c.def(
        "backward",
        [](const AnyTensor& x, const std::optional<AnyTensor>& dy, bool keep_graph) {
            const nb::gil_scoped_release others_run;
            visit(x, [&]<class T>(const Tensor<T>& t) {
                t.backward(dy ? dy->template as<T>("backward").value() : ConstArray<T>(),
                           keep_graph ? Graph::keep : Graph::release);
            });
        },
        "dy"_a = nb::none(), "keep_graph"_a = false,
        "Adds d self / d leaf, times dy of self's shape, to every leaf's grad.");
    c.def(
        "retain_grad", [](const AnyTensor& x) { visit(x, [](auto& t) { t.retain_grad(); }); },
        "Keeps the gradient of an intermediate in grad.");
    c.def(
        "on_grad",
        [](const AnyTensor& x, nb::callable f) {
            visit(x, [&]<class T>(const Tensor<T>& t) {
                t.on_grad([kept = keeper_of(f)](Array<T>& dy) {
                    const nb::gil_scoped_acquire interpreter;
                    const nb::object changed = nb::handle(static_cast<PyObject*>(kept.get()))(numpy_view<T>(dy, true));
                    if (!changed.is_none())
                        dy = tensor_over(changed, kDType<T>, false).template as<T>("on_grad").value().clone();
                });
            });
        },
        "f"_a,
        "f(dy) is called once in each backward, with the whole gradient as a NumPy array; what it writes there, or "
        "returns, flows on.");
    c.def(
        "detach", [](const AnyTensor& x) { return visit(x, [](auto& t) { return AnyTensor(t.detach()); }); },
        "The same value, cut from the graph.");
    c.def(
        "astype",
        [](const AnyTensor& x, DType dtype) {
            if (dtype == x.dtype()) return x;
            if (visit(x, [](auto& t) { return t.requires_grad(); }))
                throw nb::type_error(
                    "astype: a graph has one dtype: use detach().astype(), or astype() before the graph");
            return tensor_over(nb::cast(x), dtype, false);
        },
        "dtype"_a, "The value in another dtype, for what requires no gradient; the same dtype is x itself.");
    c.def(
        "__getitem__",
        [](const AnyTensor& x, const nb::object& key) {
            return visit(x, [&](auto& t) { return AnyTensor(item_of(t, key)); });
        },
        nb::arg("key").none());
    c.def("__setitem__", [](const nb::object& self, const nb::object& key, const nb::object& values) {
        const auto refuse = [](const AnyTensor& x, const char* instead) {
            if (visit(x, [](auto& t) { return t.requires_grad(); }))
                throw nb::type_error(fmt::format("x[...] = v records no graph: {}", instead).c_str());
        };
        refuse(nb::cast<const AnyTensor&>(self), "write x.data[...] = v for the elements of a parameter");
        if (nb::isinstance<AnyTensor>(values))
            refuse(nb::cast<const AnyTensor&>(values), "pass v.detach(), or use where() or scatter()");
        self.attr("data")[key] = values;
    });
    for (const char* name : {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}) define_comparison(c, name);
    c.def("__bool__", [](const AnyTensor& x) {
        return visit(x, [](auto& t) {
            if (t.size() != 1)
                throw nb::value_error(
                    "the truth of several elements is ambiguous: compare them, and use .any() or .all()");
            return t.item() != 0;
        });
    });
    c.def_prop_ro(
        "T",
        [](const AnyTensor& x) {
            return visit(x, [](auto& t) {
                Shape axes(t.rank());
                for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
                return AnyTensor(permute(t, axes));
            });
        },
        "The axes in reverse order.");
    c.def("__repr__", [](const AnyTensor& x) { return visit(x, [](auto& t) { return text_of(t); }); });

    context<NoGrad>(m, "no_grad", "with no_grad(): ops of this thread record no graph.");
    context<EnableGrad>(m, "enable_grad", "with enable_grad(): they do again, inside no_grad().");
    context<DetectAnomaly>(
        m, "detect_anomaly",
        "with detect_anomaly(): the first value that is not finite raises Anomaly, which names its op.");
    context<WithPrecision, Precision>(
        m, "precision", "with precision('bf16'): matrix products round their operands to bfloat16.", "precision"_a);

    m.def(
        "gradcheck",
        [](nb::callable f, const std::vector<AnyTensor>& inputs, std::uint64_t seed) {
            std::vector<Array<double>> at;
            for (const AnyTensor& x : inputs) at.push_back(x.as<double>("gradcheck").value().clone());
            const auto call = [&](const Inputs& in) {
                nb::list arguments;
                for (const Tensor<double>& x : in) arguments.append(AnyTensor(x));
                return nb::cast<const AnyTensor&>(f(*arguments)).as<double>("gradcheck");
            };
            return gradient_error(call, at, seed);
        },
        "f"_a, "inputs"_a, "seed"_a = 1,
        "The worst relative error of backward through f(*inputs), against central differences, over all elements of "
        "the inputs, of float64.");
    m.def(
        "to_dot",
        [](const AnyTensor& x, const std::vector<std::pair<std::string, AnyTensor>>& named) {
            return visit(x, [&]<class T>(const Tensor<T>& t) {
                std::vector<std::pair<std::string, Tensor<T>>> leaves;
                for (const auto& [name, leaf] : named) leaves.emplace_back(name, leaf.template as<T>("to_dot"));
                return to_dot(t, leaves);
            });
        },
        "x"_a, "named"_a = nb::list(), "The graph behind a tensor in Graphviz's language.");
    m.def(
        "set_threads",
        [](std::size_t threads) {
            const nb::gil_scoped_release others_run;
            check(set_threads(threads ? threads : default_threads()) == 0, "set_threads: the system refuses {} threads",
                  threads);
        },
        "threads"_a = 0, "How many threads compute; 0: the physical cores. Results do not depend on it.");
    return c;
}

}  // namespace inkling::python

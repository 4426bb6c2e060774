// Scopes as context managers, and tools that inspect a graph or a function: gradcheck, to_dot.
#include "engine/autograd/debug/anomaly.h"
#include "engine/autograd/debug/graph_picture.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/process/threads.h"
#include "python/bind/bind.h"

namespace inkling::python {
namespace {

// A C++ scope as a context manager: no_grad(), precision("bf16").
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
        .def("__exit__", [](C& self, nb::args) {
            check(!self.entered.empty(), "__exit__: no block was entered");
            self.entered.pop_back();
        });
}

}  // namespace

void bind_scopes(nb::module_& m) {
    context<NoGrad>(m, "no_grad", "with no_grad(): ops of this thread record no graph.");
    context<EnableGrad>(m, "enable_grad", "with enable_grad(): ops record a graph again, inside no_grad().");
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
                return returned_tensor("gradcheck", f(*arguments)).as<double>("gradcheck");
            };
            return gradient_error(call, at, seed);
        },
        "f"_a, "inputs"_a, "seed"_a = 1,
        "The largest relative error of backward through f(*inputs) against central differences, over all elements of "
        "the inputs, which are float64.");
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
            check(set_threads(threads ? threads : default_threads()) == 0, "set_threads: the system refuses {} threads",
                  threads);
        },
        "threads"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
        "Sets the number of compute threads; 0: the number of physical cores. Results do not depend on it.");
}

}  // namespace inkling::python

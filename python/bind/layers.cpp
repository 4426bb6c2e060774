#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>

#include "nn/checkpoint.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/positions.h"
#include "python/bind/bind.h"
#include "python/bind/cycles.h"
#include "python/bind/layers.h"

namespace inkling::python {
namespace {

void bind_module(nb::module_& m) {
    nb::class_<AnyModule> c(m, "Layer", nb::type_slots(layer_slots),
                            "The base of all layers. A layer holds parameters, under the names that files use.");
    c.def(
        "parameters",
        [](const AnyModule& module) {
            nb::dict all;
            visit(module, [&](auto& l) {
                for (auto& [name, p] : l.parameters()) all[name.c_str()] = AnyTensor(p);
            });
            return nb::typed<nb::dict, std::string, AnyTensor>(all);
        },
        "{name: tensor}");
    c.def("__getattr__", [](const AnyModule& module, const std::string& name) {
        return visit(module, [&](auto& l) {
            for (auto& [own, p] : l.parameters())
                if (own == name) return AnyTensor(p);
            throw_as(nb::attribute_error, "the layer has no parameter {}: parameters() lists them", name);
        });
    });
    c.def_prop_ro("dtype", &AnyModule::dtype);
    c.def_prop_ro("training", method<AnyModule>([](auto& l) { return l.training(); }));
    c.def("parameter_count", method<AnyModule>([](auto& l) { return l.parameter_count(); }));
    c.def(
        "train", [](const AnyModule& module, bool on) { visit(module, [&](auto& l) { l.train(on); }); }, "on"_a = true,
        "Dropout is active only in training mode, the mode of a new layer.");
    c.def("eval", method<AnyModule>([](auto& l) { l.eval(); }));
    c.def("zero_grad", method<AnyModule>([](auto& l) { l.zero_grad(); }), nb::call_guard<nb::gil_scoped_release>());
    c.def(
        "freeze",
        [](const AnyModule& module, std::optional<std::function<bool(const std::string&)>> which) {
            visit(module, [&](auto& l) { l.freeze(which ? *which : nullptr); });
        },
        "which"_a = nb::none(), "Freezes the parameters for which which(name) is true, or all: they get no gradients.");
    c.def(
        "initialize",
        [](const AnyModule& module, Generator& random,
           const std::vector<std::pair<std::string, std::pair<std::string, double>>>& rules) {
            const std::map<std::string, nn::Initial (*)(double)> kinds{{"constant", &nn::Initial::constant},
                                                                       {"normal", &nn::Initial::normal},
                                                                       {"uniform", &nn::Initial::uniform}};
            std::vector<nn::InitialOf> all;
            for (const auto& [pattern, how] : rules) {
                const auto kind = kinds.find(how.first);
                check(kind != kinds.end(), "initialize: constant, normal or uniform is required, got '{}'", how.first);
                all.push_back({pattern, kind->second(how.second)});
            }
            visit(module, [&]<class T>(nn::Module<T>& l) { nn::initialize(l, random, all); });
        },
        "random"_a, "rules"_a,
        "Overwrites each parameter by the first rule that matches its name: [('*bias', ('constant', 0)), ('*', "
        "('normal', 0.02))].");
    c.def("buffers", method<AnyModule>([](auto& l) { return l.buffers(); }),
          "Names that PyTorch's module also has in its state dict.");
    // Methods shared with modules written in Python are in inkling/nn.py.
    using Names = std::vector<std::string>;
    using Self = nb::handle_t<AnyModule>;
    const auto shared = [](const char* name) { return nb::module_::import_("inkling.nn").attr("Stateful").attr(name); };
    c.def(
        "state_dict",
        [shared](Self self) {
            return nb::typed<nb::dict, std::string, AnyTensor>(nb::borrow<nb::dict>(shared("state_dict")(self)));
        },
        "{name: tensor} of all parameters, frozen ones included. The tensors share the memory.");
    c.def(
        "load_state_dict",
        [shared](Self self, const nb::typed<nb::dict, std::string, nb::any>& state, bool strict) {
            return nb::cast<std::pair<Names, Names>>(shared("load_state_dict")(self, state, strict));
        },
        "state"_a, "strict"_a = true,
        "Copies the values of tensors or arrays; returns (missing, unexpected) names, which are an error if strict.");
    c.def(
        "save", [shared](Self self, const std::filesystem::path& path) { shared("save")(self, path); }, "path"_a,
        "Writes the state to a safetensors file, which PyTorch's module of the same name reads, too.");
    c.def(
        "load",
        [shared](Self self, const std::filesystem::path& path, bool strict) {
            return nb::cast<std::pair<Names, Names>>(shared("load")(self, path, strict));
        },
        "path"_a, "strict"_a = true, "Calls load_state_dict() with a safetensors file.");
    c.def("__reduce__", [](Self self) { return nb::tuple(nb::module_::import_("inkling.nn").attr("_reduced")(self)); });
    c.def_prop_ro("_made", [](const AnyModule& module) {
        if (!module.made.is_valid())
            throw nb::type_error("a Model is not copied: save_pretrained() and from_pretrained() make another");
        return module.made;
    });
    c.def("__repr__", method<AnyModule>([](auto& l) { return l.to_string(); }));
}

}  // namespace

void bind_layers(nb::module_& m) {
    using Size = std::size_t;
    bind_module(m);
    const auto random = "random"_a.none() = nb::none();

    forward(
        layer<nn::Linear, Generator&, Size, Size, bool>(m, "Linear", "y = x W^T + b, initialized like torch.nn.Linear.",
                                                        "random"_a, "in_features"_a, "out_features"_a, "bias"_a = true),
        "(..., in) -> (..., out)", "x"_a);
    forward(layer<nn::Embedding, Generator&, Size, Size>(m, "Embedding", "A table of vectors, one for each id.",
                                                         "random"_a, "count"_a, "width"_a),
            "ids (...) -> (..., width)", "ids"_a);
    forward(layer<nn::LayerNorm, Size, bool, double>(m, "LayerNorm", "LayerNorm over the last axis.", "width"_a,
                                                     "bias"_a = true, "eps"_a = 1e-5),
            "(..., width) -> (..., width)", "x"_a);
    forward(layer<nn::RMSNorm, Size, double>(m, "RMSNorm", "RMSNorm over the last axis.", "width"_a, "eps"_a = 1e-5),
            "(..., width) -> (..., width)", "x"_a);
    forward(
        layer<nn::Dropout, double>(m, "Dropout", "Dropout in training mode, with keys of `random`.", "probability"_a),
        "", "x"_a, random);
    forward(layer<nn::MLP, Generator&, Size, Size, double, bool>(
                m, "MLP", "width -> hidden -> width, with GPT-2's gelu between.", "random"_a, "width"_a, "hidden"_a,
                "dropout"_a = 0.0, "bias"_a = true),
            "(..., width) -> (..., width)", "x"_a, random);
    forward(layer<nn::LearnedPositions, Generator&, Size, Size>(
                m, "LearnedPositions", "A learned vector for each position.", "random"_a, "length"_a, "width"_a),
            "x (..., L, width) + the vectors of positions start .. start + L - 1", "x"_a, "start"_a = 0);
    define(
        m, "sinusoidal_positions",
        []<class T>(Size length, Size width, DType) { return nn::sinusoidal_positions<T>(length, width); },
        "(length, width): sin(p / 10000^(2i/width)) and cos of the same, side by side.", "length"_a, "width"_a,
        "dtype"_a = DType::float32);
    m.def(
        "checkpoint",
        [](const nb::callable& f, const AnyTensor& x) {
            return visit(x, [f = KeptFunction(f)]<class T>(const Tensor<T>& t) {
                const auto call = [f](const Tensor<T>& in, Generator*) {
                    const nb::gil_scoped_acquire interpreter;
                    return returned_tensor("checkpoint", f(AnyTensor(in))).as<T>("checkpoint");
                };
                Tensor<T> y = nn::checkpoint<T>(call, t);
                f.belong_to(y.node().get());
                return AnyTensor(std::move(y));
            });
        },
        "f"_a, "x"_a, "f(x), which keeps only its input and output: backward runs f again.");
}

}  // namespace inkling::python

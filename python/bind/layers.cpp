#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>

#include "nn/checkpoint.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/init.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/positions.h"
#include "python/bind/bind.h"
#include "python/bind/cycles.h"
#include "python/bind/layers.h"

namespace inkling::python {
namespace {

// Calls f with the layer's own tensor of this name; returns whether there is one.
template <class T, class F>
bool with_parameter(nn::Module<T>& layer, const std::string& name, const F& f) {
    bool found = false;
    layer.visit({.on_parameter = [&](const std::string& own, Tensor<T>& p, const nn::ParameterKind&) {
        if (own == name) f(p), found = true;
    }});
    return found;
}

// A layer's parameter for Python, where p.requires_grad = False freezes it in the layer.
template <class T>
AnyTensor parameter_of(const AnyModule& module, const std::string& name, const Tensor<T>& p) {
    AnyTensor given(p);
    given.require_grad = std::make_shared<const std::function<AnyTensor(bool)>>(
        [layer = std::get<std::shared_ptr<nn::Module<T>>>(module.own), frozen = module.frozen, name](bool on) {
            Tensor<T> result;
            with_parameter(*layer, name, [&](Tensor<T>& own) {
                if (!on && own.requires_grad()) {
                    frozen->insert_or_assign(name, AnyTensor(own));
                    own = own.detach();
                } else if (on && !own.requires_grad()) {
                    const auto before = frozen->find(name);
                    const bool same = before != frozen->end() &&
                                      before->second.as<T>("requires_grad").value().data() == own.value().data();
                    own = same ? before->second.as<T>("requires_grad") : Tensor<T>(own.value(), true);
                }
                result = own;
            });
            return AnyTensor(result);
        });
    return given;
}

void bind_module(nb::module_& m) {
    nb::class_<AnyModule> c(m, "Layer", nb::type_slots(layer_slots),
                            "The base of all layers. A layer holds parameters, under the names that files use.");
    using Self = nb::handle_t<AnyModule>;
    c.def(
        "named_parameters",
        [](const AnyModule& module) {
            nb::list all;
            visit(module, [&](auto& l) {
                for (auto& [name, p] : l.parameters()) all.append(nb::make_tuple(name, parameter_of(module, name, p)));
            });
            return nb::typed<nb::iterator, std::pair<std::string, AnyTensor>>(nb::iter(all));
        },
        "Pairs of name and tensor.");
    c.def(
        "parameters",
        [](const AnyModule& module) {
            nb::list all;
            visit(module, [&](auto& l) {
                for (auto& [name, p] : l.parameters()) all.append(parameter_of(module, name, p));
            });
            return nb::typed<nb::iterator, AnyTensor>(nb::iter(all));
        },
        "The tensors that named_parameters() names.");
    c.def("__getattr__", [](const AnyModule& module, const std::string& name) {
        return visit(module, [&](auto& l) -> std::optional<AnyTensor> {
            for (auto& [own, p] : l.parameters())
                if (own == name) return parameter_of(module, name, p);
            if (name == "bias") return std::nullopt;  // a layer without one, as in PyTorch
            throw_as(nb::attribute_error, "the layer has no parameter {}: named_parameters() lists them", name);
        });
    });
    c.def(
        "__setattr__",
        [](const AnyModule& module, const std::string& name, const AnyTensor& given) {
            visit(module, [&]<class T>(nn::Module<T>& l) {
                const bool found = with_parameter(l, name, [&](Tensor<T>& p) {
                    const Tensor<T>& tensor = given.as<T>(name.c_str());
                    check(tensor.shape() == p.shape(), "{}: expected shape {}, got {}", name, p.shape(),
                          tensor.shape());
                    p = tensor;
                });
                if (!found)
                    throw_as(nb::attribute_error, "the layer has no parameter {}: named_parameters() lists them", name);
            });
        },
        "name"_a, "tensor"_a, "Replaces a parameter; two layers that have the same tensor share it.");
    c.def_prop_ro("dtype", &AnyModule::dtype);
    c.def_prop_ro("training", method<AnyModule>([](auto& l) { return l.training(); }));
    c.def("parameter_count", method<AnyModule>([](auto& l) { return l.parameter_count(); }));
    c.def(
        "train",
        [](Self self, bool on) {
            visit(nb::cast<const AnyModule&>(self), [&](auto& l) { l.train(on); });
            return self;
        },
        "on"_a = true, "Dropout is active only in training mode, the mode of a new layer. Returns the layer.");
    c.def("eval", [](Self self) {
        visit(nb::cast<const AnyModule&>(self), [&](auto& l) { l.eval(); });
        return self;
    });
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
                check(kind != kinds.end(), "initialize: expected constant, normal or uniform, got '{}'", how.first);
                all.push_back({pattern, kind->second(how.second)});
            }
            visit(module, [&]<class T>(nn::Module<T>& l) { nn::initialize(l, random, all); });
        },
        "random"_a, "rules"_a,
        "Overwrites each parameter by the first rule that matches its name: [('*bias', ('constant', 0)), ('*', "
        "('normal', 0.02))].");
    c.def("_ignored", method<AnyModule>([](auto& l) { return l.buffers(); }),
          "Names that PyTorch's module also has in its state dict.");
    // Methods shared with modules written in Python are in inkling/nn/stateful.py.
    using Names = std::vector<std::string>;
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
    const auto random = "random"_a.none() = default_random();

    forward(
        layer<nn::Linear, Generator&, Size, Size, bool>(m, "Linear", "y = x W^T + b, initialized like torch.nn.Linear.",
                                                        "random"_a, "in_features"_a, "out_features"_a, "bias"_a = true),
        "(..., in) -> (..., out)", "x"_a);
    forward(layer<nn::Embedding, Generator&, Size, Size>(m, "Embedding", "A table of vectors, one for each id.",
                                                         "random"_a, "num_embeddings"_a, "embedding_dim"_a),
            "ids (...) -> (..., width)", "ids"_a);
    forward(layer<nn::Dropout, double>(m, "Dropout", "Dropout in training mode, with keys of `random`.", "p"_a = 0.5),
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

// A module with any parameters, by name, for the tests of optimizers.
//   Named<double> module({{"h.0.mlp.c_fc.weight", start}}, {{"wte.weight", {nn::Role::embedding}}});
//   nn::FlatParameters<double> flat(module);  set_gradient(flat, "h.0.mlp.c_fc.weight", g);
#pragma once

#include "nn/flat.h"
#include "nn/init.h"

namespace inkling::testing {

template <class T>
struct Named : nn::Module<T> {
    // `kinds`: for parameters that are not plain matrices or vectors.
    explicit Named(const std::vector<std::pair<std::string, Array<T>>>& starts,
                   std::map<std::string, nn::ParameterKind> other_kinds = {})
        : kinds(std::move(other_kinds)) {
        for (const auto& [name, start] : starts) {
            parameters.emplace_back(name, nn::parameter<T>(start.shape(), T{0}));
            parameters.back().second.value_in_place() = start;
        }
    }
    void visit(const nn::Visitor<T>& v) override {
        for (auto& [name, p] : parameters) {
            const auto kind = kinds.find(name);
            if (kind == kinds.end()) {
                v(name, p);
            } else {
                v(name, p, kind->second);
            }
        }
    }
    const ConstArray<T>& operator[](const std::string& name) const {
        for (const auto& [other, p] : parameters)
            if (other == name) return p.value();
        throw Error("no parameter " + name);
    }
    std::vector<std::pair<std::string, Tensor<T>>> parameters;
    std::map<std::string, nn::ParameterKind> kinds;
};

template <class T>
void set_gradient(nn::FlatParameters<T>& flat, const std::string& name, const Array<T>& g) {
    for (const auto& e : flat.entries()) {
        if (e.name != name) continue;
        Tensor<T> p = e.parameter;
        p.zero_grad();
        p.backward(g.reshaped(p.shape()));
    }
}

}  // namespace inkling::testing

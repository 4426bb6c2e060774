// A module of any parameters, by name, for the tests of optimizers.
//   Named<double> module({{"h.0.mlp.c_fc.weight", start}});
//   nn::FlatParameters<double> flat(module);  set_gradient(flat, "h.0.mlp.c_fc.weight", g);
#pragma once

#include "nn/flat.h"
#include "nn/init.h"
#include "tests/engine/helpers.h"

namespace inkling::testing {

template <class T>
struct Named : nn::Module<T> {
    explicit Named(const std::vector<std::pair<std::string, Array<T>>>& starts) {
        for (const auto& [name, start] : starts) {
            parameters.emplace_back(name, nn::parameter<T>(start.shape(), T{0}));
            copy_into(parameters.back().second.value_in_place(), start);
        }
    }
    void visit(const nn::Visitor<T>& v) override {
        for (auto& [name, p] : parameters) v(name, p);
    }
    const Array<T>& operator[](const std::string& name) const {
        for (const auto& [other, p] : parameters)
            if (other == name) return p.value();
        throw Error("no parameter " + name);
    }
    std::vector<std::pair<std::string, Tensor<T>>> parameters;
};

template <class T>
void set_gradient(nn::FlatParameters<T>& flat, const std::string& name, const Array<T>& g) {
    for (const auto& e : flat.entries())
        if (e.name == name) std::copy_n(g.data(), g.size(), flat.gradients().data() + e.offset);
}

}  // namespace inkling::testing

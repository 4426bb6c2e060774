#include "nn/gradcheck.h"

#include "engine/ops.h"
#include "nn/embedding.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/positions.h"

namespace inkling::nn {

double module_gradient_error(Module<double>& module, ModuleFunction f, const std::vector<Array<double>>& at,
                             Orders orders) {
    const Inputs leaves = leaves_at(at);
    Inputs all = leaves;
    for (const auto& [name, p] : module.parameters())
        if (p.requires_grad()) all.push_back(p);
    const auto output = [&] {
        Generator random{4, 0};
        return f(leaves, &random);
    };
    const double first = parameter_gradient_error(output, all);
    return orders == Orders::first ? first : std::max(first, second_gradient_error(output, all));
}

namespace {

// Checks a layer with one input and one output on several shapes.
template <class Layer>
double layer_error(Layer& layer, const std::vector<Shape>& shapes) {
    const auto f = [&](const Inputs& in, [[maybe_unused]] Generator* random) {
        if constexpr (requires { layer.forward(in[0], random); }) return layer.forward(in[0], random);
        return layer.forward(in[0]);
    };
    double worst = 0;
    for (const Shape& shape : shapes) worst = std::max(worst, module_gradient_error(layer, f, {normal(shape, 41)}));
    return worst;
}

}  // namespace

std::vector<GradcheckRow> gradcheck_layers() {
    return {
        {"Linear",
         [] {
             Generator random{1337, 0};
             Linear<double> with_bias(random, 4, 3), without(random, 5, 2, false);
             return std::max(layer_error(with_bias, {{4}, {2, 4}, {2, 3, 4}}), layer_error(without, {{3, 5}}));
         }},
        {"Embedding",
         [] {
             Generator random{1337, 0};
             Embedding<double> table(random, 5, 3);
             IdArray ids({2, 3}, 1);
             ids.data()[4] = 4;
             return module_gradient_error(table, [&](const Inputs&, Generator*) { return table.forward(ids); }, {});
         }},
        {"LayerNorm",
         [] {
             LayerNorm<double> with_bias(5), without(4, false);
             return std::max(layer_error(with_bias, {{5}, {2, 3, 5}}), layer_error(without, {{3, 4}}));
         }},
        {"RMSNorm",
         [] {
             RMSNorm<double> norm(5);
             return layer_error(norm, {{5}, {2, 3, 5}});
         }},
        {"Dropout",
         [] {
             Dropout<double> drop(0.3);
             return layer_error(drop, {{7}, {2, 3, 4}});
         }},
        {"MLP",
         [] {
             Generator random{1337, 0};
             MLP<double> mlp(random, 4, 8, 0.2), without(random, 3, 5, 0.0, false);
             return std::max(layer_error(mlp, {{2, 3, 4}}), layer_error(without, {{2, 3}}));
         }},
        {"LearnedPositions",
         [] {
             Generator random{1337, 0};
             LearnedPositions<double> positions(random, 6, 4);
             return std::max(layer_error(positions, {{5, 4}, {2, 6, 4}}),
                             module_gradient_error(
                                 positions, [&](const Inputs& in, Generator*) { return positions.forward(in[0], 2); },
                                 {normal({3, 4}, 46)}));
         }},
    };
}

}  // namespace inkling::nn

// The rows of `inkling gradcheck` for elementwise ops, reductions and losses: each in several shapes (scalar, one to
// four axes, size 1, broadcast) and on strided views.
#include "engine/gradcheck/ops.h"
#include "engine/ops.h"

namespace inkling {
namespace {

using V = const Tensor<double>&;

double binary_error(FunctionRef<Tensor<double>(V a, V b)> f, Preparation prepare_b = nullptr) {
    const std::vector<std::pair<Shape, Shape>> pairs = {{{}, {}},
                                                        {{4}, {4}},
                                                        {{2, 3}, {}},
                                                        {{2, 3}, {3}},
                                                        {{2, 1, 4}, {3, 1}},
                                                        {{1, 3}, {2, 3}},
                                                        {{2, 2, 2, 3}, {2, 1, 3}},
                                                        {{1}, {5, 1}}};
    double worst = 0;
    for (const auto& [sa, sb] : pairs) {
        const Array<double> a = normal(sa, 21);
        Array<double> b = normal(sb, 22);
        if (prepare_b) b = prepare_b(b);
        worst = std::max(worst, gradient_error([&](const Inputs& in) { return f(in[0], in[1]); }, {a, b}));
    }
    const Array<double> a = normal({3, 4}, 23);
    Array<double> b = normal({4, 3}, 24);
    if (prepare_b) b = prepare_b(b);
    const auto strided = [&](const Inputs& in) { return f(in[0], transpose(in[1], 0, 1)); };
    const auto twice = [&](const Inputs& in) { return f(in[0], in[0]); };
    return std::max({worst, gradient_error(strided, {a, b}), gradient_error(twice, {positive(normal({5}, 25))})});
}

// Values 0.1 and more apart, in a mixed order: max has its kinks where two are equal.
Array<double> spread(Array<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = 0.1 * static_cast<double>((i * 7919 + 3) % 101);
    return x;
}

}  // namespace

std::vector<GradcheckRow> elementwise_rows() {
    const auto unary = [](const char* name, auto f, Preparation prepare = nullptr) {
        return GradcheckRow{name, [=] { return unary_error(f, kManyShapes, prepare); }};
    };
    const auto binary = [](const char* name, auto f, Preparation prepare = nullptr) {
        return GradcheckRow{name, [=] { return binary_error(f, prepare); }};
    };
    return {
        binary("add", [](V a, V b) { return add(a, b); }),
        binary("sub", [](V a, V b) { return sub(a, b); }),
        binary("mul", [](V a, V b) { return mul(a, b); }),
        binary(
            "div", [](V a, V b) { return div(a, b); }, positive),
        unary("neg", [](V x) { return neg(x); }),
        unary("exp", [](V x) { return exp(x); }),
        unary(
            "log", [](V x) { return log(x); }, positive),
        unary(
            "sqrt", [](V x) { return sqrt(x); }, positive),
        {"pow",
         [] {
             double worst = 0;
             for (const double p : {3.0, 2.0, 1.0, 0.0, -1.0, 0.5}) {
                 worst = std::max(worst, unary_error([p](V x) { return pow(x, p); }, {{}, {5}, {2, 3}}, positive));
             }
             const auto cube = [](V x) { return pow(x, 3.0); };
             return std::max(worst, unary_error(cube, {{7}}, away_from_zero));
         }},
        unary("affine", [](V x) { return affine(x, -1.7, 0.3); }),
        unary("tanh", [](V x) { return tanh(x); }),
        unary("sigmoid", [](V x) { return sigmoid(x); }),
        unary(
            "relu", [](V x) { return relu(x); }, away_from_zero),
        unary("silu", [](V x) { return silu(x); }),
        unary("gelu", [](V x) { return gelu(x); }),
        unary("gelu_erf", [](V x) { return gelu_erf(x); }),
        unary(
            "squared_relu", [](V x) { return squared_relu(x); }, away_from_zero),
        unary("softcap", [](V x) { return softcap(x, 1.5); }),
        unary("softplus", [](V x) { return softplus(x); }),
        unary(
            "leaky_relu", [](V x) { return leaky_relu(x, 0.2); }, away_from_zero),
        unary(
            "elu", [](V x) { return elu(x, 0.7); }, away_from_zero),
        unary(
            "abs", [](V x) { return abs(x); }, away_from_zero),
        unary("sin", [](V x) { return sin(x); }),
        unary("cos", [](V x) { return cos(x); }),
        unary("expm1", [](V x) { return expm1(x); }),
        unary(
            "log1p", [](V x) { return log1p(affine(x, 1, -0.9)); }, positive),
        unary(
            "clamp", [](V x) { return clamp(x, 2.01, 6.01); }, spread),
        binary("maximum", [](V a, V b) { return maximum(a, b); }),
        binary("minimum", [](V a, V b) { return minimum(a, b); }),
        {"pow (of tensors)",
         [] {
             const auto f = [](V a, V b) { return pow(exp(a), b); };
             return binary_error(f);
         }},
    };
}

std::vector<GradcheckRow> reduction_rows() {
    const auto over_axes = [](const char* name, auto f, Preparation prepare = nullptr) {
        return GradcheckRow{name, [=] {
                                double worst = unary_error([&](V x) { return f(x, {}, false); }, kManyShapes, prepare);
                                for (const Axes& axes : {Axes{0}, Axes{-1}, Axes{1}, Axes{0, 2}, Axes{0, 1}}) {
                                    for (const bool keep : {false, true}) {
                                        const auto g = [&](V x) { return f(x, axes, keep); };
                                        worst = std::max(worst, unary_error(g, {{2, 3, 4}, {3, 1, 5}}, prepare));
                                    }
                                }
                                return worst;
                            }};
    };
    const auto rows = [](const char* name, auto f) {
        return GradcheckRow{name, [=] { return unary_error(f, {{1}, {5}, {17}, {3, 4}, {2, 1, 3}, {2, 3, 2, 3}}); }};
    };
    return {
        over_axes("sum", [](V x, const Axes& axes, bool keep) { return sum(x, axes, keep); }),
        over_axes("mean", [](V x, const Axes& axes, bool keep) { return mean(x, axes, keep); }),
        over_axes(
            "max", [](V x, const Axes& axes, bool keep) { return max(x, axes, keep); }, spread),
        over_axes(
            "min", [](V x, const Axes& axes, bool keep) { return min(x, axes, keep); }, spread),
        over_axes(
            "prod", [](V x, const Axes& axes, bool keep) { return prod(x, axes, keep); }, positive),
        over_axes("logsumexp", [](V x, const Axes& axes, bool keep) { return logsumexp(x, axes, keep); }),
        {"var",
         [] {
             const auto f = [](V x) { return var(x, {-1}, true, 0); };
             return worst_of({unary_error([](V x) { return var(x); }, {{5}, {17}, {3, 4}, {2, 3, 2, 3}}),
                              unary_error(f, {{1}, {5}, {3, 4}}),
                              unary_error(
                                  [](V x) {
                                      return var(x, {0, 2});
                                  },
                                  {{3, 2, 5}})});
         }},
        {"std",
         [] {
             const auto f = [](V x) { return std(x, {-1}, true, 0); };
             return worst_of({unary_error([](V x) { return std(x); }, {{5}, {17}, {3, 4}, {2, 3, 2, 3}}),
                              unary_error(f, {{5}, {3, 6}}),
                              unary_error(
                                  [](V x) {
                                      return std(x, {0, 2});
                                  },
                                  {{3, 2, 5}})});
         }},
        {"cumsum",
         [] {
             return worst_of({unary_error([](V x) { return cumsum(x, -1); }, {{1}, {17}, {3, 4}, {2, 3, 2, 3}}),
                              unary_error([](V x) { return cumsum(x, 0); }, {{3, 4}, {4, 1, 2}}),
                              unary_error([](V x) { return cumsum(x, 1); }, {{2, 5, 3}})});
         }},
        rows("softmax", [](V x) { return softmax(x); }),
        {"softmax (other axes)",
         [] {
             return worst_of({unary_error([](V x) { return softmax(x, 0); }, {{3, 4}, {2, 3, 2}}),
                              unary_error([](V x) { return softmax(x, 1); }, {{3, 4}, {2, 3, 2}})});
         }},
        rows("log_softmax", [](V x) { return log_softmax(x); }),
        {"layer_norm",
         [] {
             const auto with_bias = [](const Inputs& in) { return layer_norm(in[0], in[1], in[2]); };
             const auto without = [](const Inputs& in) { return layer_norm(in[0], in[1], {}); };
             const auto bare = [](const Inputs& in) { return layer_norm(in[0], {}, {}); };
             const auto strided = [](const Inputs& in) { return layer_norm(transpose(in[0], 0, 1), in[1], in[2]); };
             return worst_of({error_of(with_bias, {{5}, {5}, {5}}), error_of(with_bias, {{2, 3, 4}, {4}, {4}}),
                              error_of(with_bias, {{37, 3}, {3}, {3}}), error_of(without, {{2, 2, 2, 5}, {5}}),
                              error_of(bare, {{3, 6}}), error_of(strided, {{4, 3}, {4}, {4}})});
         }},
        {"rms_norm",
         [] {
             const auto with_gain = [](const Inputs& in) { return rms_norm(in[0], in[1]); };
             const auto bare = [](const Inputs& in) { return rms_norm(in[0], {}); };
             return worst_of({error_of(with_gain, {{5}, {5}}), error_of(with_gain, {{2, 3, 4}, {4}}),
                              error_of(with_gain, {{37, 3}, {3}}), error_of(bare, {{2, 2, 3, 5}})});
         }},
        {"cross_entropy",
         [] {
             const auto loss = [](Shape shape, bool ignore) {
                 IdArray targets = some_ids(Shape(shape.begin(), shape.end() - 1), shape.back());
                 if (ignore) targets.data()[1] = kIgnore;
                 return error_of([=](const Inputs& in) { return cross_entropy(in[0], targets); }, {shape});
             };
             const auto strided = [](const Inputs& in) {
                 return cross_entropy(transpose(in[0], 0, 1), some_ids({3}, 5));
             };
             return worst_of({loss({4}, false), loss({6, 5}, false), loss({6, 5}, true), loss({2, 3, 7}, true),
                              loss({3, 1}, false), error_of(strided, {{5, 3}})});
         }},
        {"cross_entropy (options)",
         [] {
             const auto loss = [](Shape shape, const CrossEntropyOptions& options) {
                 IdArray targets = some_ids(Shape(shape.begin(), shape.end() - 1), shape.back());
                 if (targets.size() > 1) targets.data()[1] = kIgnore;
                 return error_of([=](const Inputs& in) { return cross_entropy(in[0], targets, options); }, {shape});
             };
             const std::vector<double> w{0.5, 2, 0, 1, 3};
             return worst_of({loss({4, 5}, {.weight = w}), loss({4, 5}, {.label_smoothing = 0.1}),
                              loss({2, 3, 5}, {.weight = w, .reduction = Reduction::none, .label_smoothing = 0.3}),
                              loss({4, 5}, {.reduction = Reduction::sum, .label_smoothing = 1}),
                              loss({4, 17}, {.reduction = Reduction::none})});
         }},
        {"mse_loss",
         [] {
             const auto loss = [](Reduction r) { return [r](const Inputs& in) { return mse_loss(in[0], in[1], r); }; };
             return worst_of({error_of(loss(Reduction::mean), {{3, 5}, {3, 5}}),
                              error_of(loss(Reduction::sum), {{}, {}}),
                              error_of(loss(Reduction::none), {{2, 17}, {2, 17}})});
         }},
        {"binary_cross_entropy_with_logits",
         [] {
             const auto loss = [](Reduction r) {
                 return [r](const Inputs& in) { return binary_cross_entropy_with_logits(in[0], in[1], r); };
             };
             return worst_of({error_of(loss(Reduction::mean), {{3, 5}, {3, 5}}),
                              error_of(loss(Reduction::sum), {{}, {}}),
                              error_of(loss(Reduction::none), {{2, 17}, {2, 17}})});
         }},
        {"linear_cross_entropy",
         [] {
             const auto loss = [](std::size_t n, std::size_t vocabulary, std::size_t block, double cap) {
                 IdArray targets = some_ids({n}, vocabulary);
                 if (n > 1) targets.data()[1] = kIgnore;
                 const auto f = [=](const Inputs& in) {
                     return linear_cross_entropy(in[0], in[1], targets, kIgnore, block, cap);
                 };
                 return error_of(f, {{n, 4}, {vocabulary, 4}});
             };
             return worst_of({loss(5, 7, 0, 0), loss(5, 7, 3, 0), loss(3, 8, 1, 0), loss(1, 2, 8, 0),
                              loss(5, 7, 0, 1.5), loss(5, 7, 3, 1.5)});
         }},
    };
}

std::vector<GradcheckRow> gradcheck_ops() {
    std::vector<GradcheckRow> rows;
    for (const auto& family : {elementwise_rows(), reduction_rows(), shape_rows(), product_rows()}) {
        rows.insert(rows.end(), family.begin(), family.end());
    }
    return rows;
}

}  // namespace inkling

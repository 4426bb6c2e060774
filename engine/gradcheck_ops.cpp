// The rows of `inkling gradcheck` for the engine's ops: each in several shapes (scalar, one to four axes, size 1,
// broadcast) and on strided views.
#include "engine/gradcheck.h"
#include "engine/ops.h"

namespace inkling {
namespace {

using Preparation = std::function<Array<double>(Array<double>)>;
using Unary = std::function<Tensor<double>(const Tensor<double>&)>;
using Binary = std::function<Tensor<double>(const Tensor<double>&, const Tensor<double>&)>;

const std::vector<Shape> kShapes = {{}, {1}, {5}, {17}, {3, 4}, {2, 1, 3}, {2, 3, 2, 3}, {1, 1}};

// f on whole arrays, on a transposed view, and on every second element of an axis.
double unary_error(const Unary& f, const std::vector<Shape>& shapes, const Preparation& prepare = nullptr) {
    double worst = 0;
    for (const Shape& shape : shapes) {
        Array<double> x = normal(shape, 11 + shape.size());
        if (prepare) x = prepare(x);
        worst = std::max(worst, gradient_error([&](const Inputs& in) { return f(in[0]); }, {x}));
        if (shape.size() < 2) continue;
        worst = std::max(worst, gradient_error([&](const Inputs& in) { return f(transpose(in[0], 0, -1)); }, {x}));
        const auto strided = [&](const Inputs& in) { return f(slice(in[0], -1, 0, in[0].dim(-1), 2)); };
        worst = std::max(worst, gradient_error(strided, {x}));
    }
    return worst;
}

double binary_error(const Binary& f, const Preparation& prepare_b = nullptr) {
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

double error_of(const Function& f, const std::vector<Shape>& shapes) {
    std::vector<Array<double>> at;
    for (const Shape& shape : shapes) at.push_back(normal(shape, 31 + at.size()));
    return gradient_error(f, at);
}

// Values 0.1 and more apart, in a mixed order: max has its kinks where two are equal.
Array<double> spread(Array<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = 0.1 * static_cast<double>((i * 7919 + 3) % 101);
    return x;
}

double worst_of(std::initializer_list<double> errors) { return std::max(errors); }

IdArray ids(const Shape& shape, std::size_t below) {
    IdArray result(shape);
    for (std::size_t i = 0; i < result.size(); ++i)
        result.data()[i] = static_cast<std::int32_t>((i * i + 3 * i) % below);
    return result;
}

MaskArray pattern(const Shape& shape) {
    MaskArray mask(shape);
    for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = i % 3 == 1;
    return mask;
}

std::vector<GradcheckRow> elementwise_rows() {
    const auto unary = [](const char* name, Unary f, Preparation prepare = nullptr) {
        return GradcheckRow{name, [=] { return unary_error(f, kShapes, prepare); }};
    };
    const auto binary = [](const char* name, Binary f, Preparation prepare = nullptr) {
        return GradcheckRow{name, [=] { return binary_error(f, prepare); }};
    };
    using V = const Tensor<double>&;
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
    };
}

std::vector<GradcheckRow> reduction_rows() {
    using V = const Tensor<double>&;
    const auto over_axes = [](const char* name, std::function<Tensor<double>(V, const Axes&, bool)> f,
                              Preparation prepare = nullptr) {
        return GradcheckRow{name, [=] {
                                double worst = unary_error([&](V x) { return f(x, {}, false); }, kShapes, prepare);
                                for (const Axes& axes : {Axes{0}, Axes{-1}, Axes{1}, Axes{0, 2}, Axes{0, 1}}) {
                                    for (const bool keep : {false, true}) {
                                        const auto g = [&](V x) { return f(x, axes, keep); };
                                        worst = std::max(worst, unary_error(g, {{2, 3, 4}, {3, 1, 5}}, prepare));
                                    }
                                }
                                return worst;
                            }};
    };
    const auto rows = [](const char* name, Unary f) {
        return GradcheckRow{name, [=] { return unary_error(f, {{1}, {5}, {17}, {3, 4}, {2, 1, 3}, {2, 3, 2, 3}}); }};
    };
    return {
        over_axes("sum", [](V x, const Axes& axes, bool keep) { return sum(x, axes, keep); }),
        over_axes("mean", [](V x, const Axes& axes, bool keep) { return mean(x, axes, keep); }),
        over_axes(
            "max", [](V x, const Axes& axes, bool keep) { return max(x, axes, keep); }, spread),
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
                 IdArray targets = ids(Shape(shape.begin(), shape.end() - 1), shape.back());
                 if (ignore) targets.data()[1] = kIgnore;
                 return error_of([=](const Inputs& in) { return cross_entropy(in[0], targets); }, {shape});
             };
             const auto strided = [](const Inputs& in) { return cross_entropy(transpose(in[0], 0, 1), ids({3}, 5)); };
             return worst_of({loss({4}, false), loss({6, 5}, false), loss({6, 5}, true), loss({2, 3, 7}, true),
                              loss({3, 1}, false), error_of(strided, {{5, 3}})});
         }},
        {"linear_cross_entropy",
         [] {
             const auto loss = [](std::size_t n, std::size_t vocabulary, std::size_t block, double cap) {
                 IdArray targets = ids({n}, vocabulary);
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

std::vector<GradcheckRow> shape_rows() {
    using V = const Tensor<double>&;
    return {
        {"reshape",
         [] {
             return worst_of({unary_error([](V x) { return reshape(x, {x.size()}); }, kShapes),
                              error_of(
                                  [](const Inputs& in) {
                                      return reshape(transpose(in[0], 0, 1), {2, 6});
                                  },
                                  {{3, 4}})});
         }},
        {"permute",
         [] {
             return worst_of({unary_error(
                                  [](V x) {
                                      return permute(x, {2, 0, 1});
                                  },
                                  {{2, 3, 4}, {1, 2, 1}}),
                              unary_error(
                                  [](V x) {
                                      return permute(x, {3, 1, 0, 2});
                                  },
                                  {{2, 3, 2, 3}})});
         }},
        {"transpose",
         [] {
             return unary_error([](V x) { return mul(transpose(x, 0, -1), transpose(x, 0, -1)); }, {{2, 3}, {2, 1, 3}});
         }},
        {"slice",
         [] {
             return worst_of(
                 {unary_error([](V x) { return slice(x, 0, 1, 4); }, {{5}, {4, 5}, {5, 1, 4}}),
                  unary_error([](V x) { return slice(x, -1, 0, 5, 2); }, {{5}, {5, 10}}),
                  unary_error([](V x) { return mul(slice(x, 0, 0, 2), slice(x, 0, 1, 3)); }, {{3}, {3, 4}})});
         }},
        {"split",
         [] {
             const auto parts = [](V x) {
                 const auto p = split(x, 3, -1);
                 return add(mul(p[0], p[2]), p[0]);  // one part is used twice, one not at all
             };
             const auto heads = [](V x) {  // as attention uses it: pieces, seen as heads, in products
                 const auto p = split(x, 3, -1);
                 const auto head = [](V t) { return transpose(reshape(t, {2, 2, 2, 2}), 1, 2); };
                 return matmul(matmul(head(p[0]), transpose(head(p[1]), -2, -1)), head(p[2]));
             };
             return worst_of({unary_error(parts, {{3, 6}, {3}, {3, 2, 6}}),
                              error_of([&](const Inputs& in) { return heads(in[0]); }, {{2, 2, 12}})});
         }},
        {"concatenate",
         [] {
             const auto join = [](const Inputs& in) { return concatenate<double>({in[0], in[1], in[0]}, 1); };
             const auto front = [](const Inputs& in) { return concatenate<double>({in[0], in[1]}, 0); };
             return worst_of({error_of(join, {{2, 3}, {2, 1}}), error_of(front, {{2}, {3}}),
                              error_of(join, {{2, 1, 2, 2}, {2, 3, 2, 2}})});
         }},
        {"stack",
         [] {
             double worst = 0;
             for (const std::ptrdiff_t axis : {0, 1, -1}) {
                 worst = std::max(worst, error_of(
                                             [=](const Inputs& in) {
                                                 return stack<double>({in[0], in[1]}, axis);
                                             },
                                             {{2, 3}, {2, 3}}));
             }
             return worst;
         }},
        {"where",
         [] {
             return worst_of({error_of(
                                  [](const Inputs& in) {
                                      return inkling::where(pattern({2, 3}), in[0], in[1]);
                                  },
                                  {{2, 3}, {2, 3}}),
                              error_of(
                                  [](const Inputs& in) {
                                      return inkling::where(pattern({4, 1}), in[0], in[1]);
                                  },
                                  {{3}, {2, 1, 1}})});
         }},
        {"masked_fill",
         [] {
             return worst_of(
                 {unary_error([](V x) { return masked_fill(x, pattern(x.shape()), -2.0); }, kShapes),
                  error_of([](const Inputs& in) { return softmax(masked_fill(in[0], causal_mask(4, 4), -1e30)); },
                           {{2, 4, 4}})});
         }},
        {"tril",
         [] {
             return worst_of({unary_error([](V x) { return tril(x); }, {{3, 4}, {2, 3, 3}}),
                              unary_error([](V x) { return tril(x, 1); }, {{3, 4}})});
         }},
        {"triu",
         [] {
             return worst_of({unary_error([](V x) { return triu(x); }, {{3, 4}, {2, 3, 3}}),
                              unary_error([](V x) { return triu(x, -1); }, {{3, 4}})});
         }},
    };
}

std::vector<GradcheckRow> product_rows() {
    const auto plain = [](const Inputs& in) { return matmul(in[0], in[1]); };
    return {
        {"matmul",
         [plain] {
             return worst_of({error_of(plain, {{2, 3}, {3, 4}}), error_of(plain, {{1, 1}, {1, 1}}),
                              error_of(plain, {{17, 3}, {3, 1}})});
         }},
        {"matmul (batched, broadcast)",
         [plain] {
             return worst_of({error_of(plain, {{2, 3, 4}, {2, 4, 2}}), error_of(plain, {{2, 3, 4}, {4, 2}}),
                              error_of(plain, {{3, 4}, {2, 4, 2}}), error_of(plain, {{2, 1, 3, 2}, {3, 2, 2}}),
                              error_of(plain, {{1, 2, 3}, {4, 3, 2}})});
         }},
        {"matmul (transposed)",
         [] {
             const auto right = [](const Inputs& in) { return matmul(in[0], transpose(in[1], -2, -1)); };
             const auto left = [](const Inputs& in) { return matmul(transpose(in[0], -2, -1), in[1]); };
             return worst_of({error_of(right, {{2, 3, 4}, {2, 5, 4}}), error_of(left, {{2, 4, 3}, {2, 4, 5}}),
                              error_of(right, {{3, 4}, {2, 4}})});
         }},
        {"linear",
         [] {
             const auto with_bias = [](const Inputs& in) { return linear(in[0], in[1], in[2]); };
             const auto without = [](const Inputs& in) { return linear(in[0], in[1]); };
             const auto strided = [](const Inputs& in) { return linear(transpose(in[0], 0, 1), in[1], in[2]); };
             return worst_of({error_of(with_bias, {{4}, {3, 4}, {3}}), error_of(with_bias, {{2, 3, 4}, {5, 4}, {5}}),
                              error_of(without, {{2, 2, 2, 3}, {1, 3}}), error_of(strided, {{4, 2}, {3, 4}, {3}})});
         }},
        {"embedding",
         [] {
             return worst_of({error_of([](const Inputs& in) { return embedding(ids({5}, 4), in[0]); }, {{4, 3}}),
                              error_of(
                                  [](const Inputs& in) {
                                      return mul(embedding(ids({2, 3}, 6), in[0]), embedding(ids({2, 3}, 5), in[0]));
                                  },
                                  {{6, 2}})});
         }},
        {"repeat",
         [] {
             double worst = 0;
             for (const std::size_t times : {1, 3}) {
                 for (const std::ptrdiff_t axis : {0, 1, -1}) {
                     const auto f = [=](const Tensor<double>& x) { return repeat(x, times, axis); };
                     worst = std::max(worst, unary_error(f, {{3, 4}, {2, 2, 3, 5}}));
                 }
             }
             return worst;
         }},
        {"rotary",
         [] {
             double worst = 0;
             for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
                 for (const bool clockwise : {false, true}) {
                     const RotaryOptions options{100, pairs, clockwise, 2};
                     const auto f = [=](const Tensor<double>& x) { return rotary(x, options); };
                     worst = std::max(worst, unary_error(f, {{4, 4}, {2, 2, 4}, {2, 3, 2, 8}}));
                 }
             }
             return worst;
         }},
        {"attention (fused)",
         [] {
             const auto self = [](FusedAttention options) {
                 return [options](const Inputs& in) { return attention(in[0], in[1], in[2], options); };
             };
             const auto packed = [](const Inputs& in) {  // q, k, v as pieces of one tensor, seen as heads
                 const auto p = split(in[0], 3, -1);
                 const auto head = [](const Tensor<double>& t) { return transpose(reshape(t, {2, 5, 2, 3}), 1, 2); };
                 return attention(head(p[0]), head(p[1]), head(p[2]), {0.6, true, {}, 0.2, {1, 2}, {}});
             };
             const auto same = [](const Inputs& in) {
                 return attention(in[0], in[0], in[0], {1.0, true, {}, 0, {}, {}});
             };
             MaskArray mask({2, 1, 1, 5}, 1);
             mask.data()[3] = mask.data()[9] = 0;
             return worst_of(
                 {error_of(self({0.5, false, {}, 0, {}, {}}), {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}}),
                  error_of(self({0.5, true, {}, 0, {}, {}}), {{1, 2, 5, 2}, {1, 2, 5, 2}, {1, 2, 5, 2}}),
                  error_of(self({0.5, true, {}, 0.3, {3, 4}, {}}), {{1, 1, 3, 2}, {1, 1, 5, 2}, {1, 1, 5, 1}}),
                  error_of(self({0.5, false, mask, 0.3, {3, 4}, {}}), {{2, 1, 4, 9}, {2, 1, 5, 9}, {2, 1, 5, 17}}),
                  error_of(packed, {{2, 5, 18}}), error_of(same, {{1, 2, 4, 3}})});
         }},
        {"dropout",
         [] {
             double worst = 0;
             for (const double p : {0.0, 0.2, 0.9}) {
                 worst = std::max(worst, unary_error(
                                             [p](const Tensor<double>& x) {
                                                 return dropout(x, p, {5, 6});
                                             },
                                             kShapes));
             }
             return worst;
         }},
    };
}

}  // namespace

std::vector<GradcheckRow> gradcheck_ops() {
    std::vector<GradcheckRow> rows;
    for (const auto& family : {elementwise_rows(), reduction_rows(), shape_rows(), product_rows()}) {
        rows.insert(rows.end(), family.begin(), family.end());
    }
    return rows;
}

}  // namespace inkling

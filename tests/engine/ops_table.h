// Every op as a function of its tensors, with shapes at which it may be called: rows of whole vectors and a ragged end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ops.h"
#include "engine/precision.h"
#include "tests/engine/helpers.h"

namespace inkling::testing {

// How a NaN in an input spreads over the output.
enum class Spread {
    alone,     // to what depends on that element, and nothing else
    products,  // also to where it meets a zero weight
};

template <class T>
struct OpCase {
    using In = std::vector<Tensor<T>>;

    std::string name;
    std::vector<Shape> shapes;  // of the inputs
    std::function<Tensor<T>(const In&)> f;
    Spread spread = Spread::alone;
    bool is_positive = false;  // takes positive numbers alone
};

inline MaskArray every_third(const Shape& shape) {
    MaskArray mask(shape);
    for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = i % 3 != 1;
    return mask;
}

template <class T>
std::vector<OpCase<T>> elementwise_cases() {
    using In = typename OpCase<T>::In;
    const Shape a{2, 37}, b{37};
    const auto pair = [=](const char* name, auto f) {
        return OpCase<T>{name, {a, b}, [f](const In& in) { return f(in[0], in[1]); }};
    };
    const auto one = [=](const char* name, auto f, bool positive = false) {
        return OpCase<T>{name, {a}, [f](const In& in) { return f(in[0]); }, Spread::alone, positive};
    };
    return {
        pair("add", [](auto x, auto y) { return x + y; }),
        pair("sub", [](auto x, auto y) { return x - y; }),
        pair("mul", [](auto x, auto y) { return x * y; }),
        pair("div", [](auto x, auto y) { return x / y; }),
        one("neg", [](auto x) { return -x; }),
        one("exp", [](auto x) { return exp(x); }),
        one(
            "log", [](auto x) { return log(x); }, true),
        one(
            "sqrt", [](auto x) { return sqrt(x); }, true),
        one(
            "pow", [](auto x) { return pow(x, 2.5); }, true),
        one("affine", [](auto x) { return affine(x, 2, 1); }),
        one("tanh", [](auto x) { return tanh(x); }),
        one("sigmoid", [](auto x) { return sigmoid(x); }),
        one("relu", [](auto x) { return relu(x); }),
        one("silu", [](auto x) { return silu(x); }),
        one("gelu", [](auto x) { return gelu(x); }),
        one("gelu_erf", [](auto x) { return gelu_erf(x); }),
        one("squared_relu", [](auto x) { return squared_relu(x); }),
        one("softcap", [](auto x) { return softcap(x, 5); }),
        pair("where", [=](auto x, auto y) { return inkling::where(every_third(a), x, y); }),
        one("masked_fill", [=](auto x) { return masked_fill(x, every_third(a), 3); }),
        one("tril", [](auto x) { return tril(x, 20); }),
        one("triu", [](auto x) { return triu(x, 20); }),
    };
}

template <class T>
std::vector<OpCase<T>> row_cases() {
    using In = typename OpCase<T>::In;
    const Shape a{3, 37};
    const auto one = [=](const char* name, auto f) {
        return OpCase<T>{name, {a}, [f](const In& in) { return f(in[0]); }};
    };
    IdArray targets({3}, 4);
    targets.data()[1] = kIgnore;
    return {
        one("softmax", [](auto x) { return softmax(x); }),
        one("softmax (columns)", [](auto x) { return softmax(x, 0); }),
        one("softmax (masked)", [=](auto x) { return softmax(x, every_third(a)); }),
        one("log_softmax", [](auto x) { return log_softmax(x); }),
        one("sum", [](auto x) { return sum(x, {-1}); }),
        one("sum (columns)", [](auto x) { return sum(x, {0}); }),
        one("mean", [](auto x) { return mean(x, {-1}); }),
        one("max", [](auto x) { return max(x, {-1}); }),
        one("max (columns)", [](auto x) { return max(x, {0}); }),
        one("max (all)", [](auto x) { return max(x); }),
        one("dropout",
            [](auto x) {
                return dropout(x, 0.5, {1, 2});
            }),
        one("rotary", [](auto x) { return rotary(slice(x, 1, 0, 36)); }),
        one("rms_norm (plain)", [](auto x) { return rms_norm(x, {}); }),
        {"rms_norm", {a, {37}}, [](const In& in) { return rms_norm(in[0], in[1]); }},
        {"layer_norm", {a, {37}, {37}}, [](const In& in) { return layer_norm(in[0], in[1], in[2]); }},
        {"cross_entropy", {a}, [=](const In& in) { return cross_entropy(in[0], targets); }},
    };
}

template <class T>
std::vector<OpCase<T>> shape_cases() {
    using In = typename OpCase<T>::In;
    const auto one = [](const char* name, auto f) {
        return OpCase<T>{name, {{4, 6}}, [f](const In& in) { return f(in[0]); }};
    };
    return {
        one("reshape",
            [](auto x) {
                return reshape(x, {3, 8});
            }),
        one("permute",
            [](auto x) {
                return permute(x, {1, 0});
            }),
        one("transpose", [](auto x) { return transpose(x, 0, 1); }),
        one("slice", [](auto x) { return slice(x, 1, 1, 6, 2); }),
        one("split", [](auto x) { return split(x, 2, 1)[1]; }),
        one("repeat", [](auto x) { return repeat(x, 3, 1); }),
        {"concatenate",
         {{2, 3}, {2, 4}},
         [](const In& in) {
             return concatenate<T>({in[0], in[1]}, 1);
         }},
        {"stack",
         {{2, 3}, {2, 3}},
         [](const In& in) {
             return stack<T>({in[0], in[1]}, 0);
         }},
        {"embedding", {{5, 7}}, [](const In& in) { return embedding(random_ids({6}, 5, 3), in[0]); }},
    };
}

template <class T>
std::vector<OpCase<T>> product_cases() {
    using In = typename OpCase<T>::In;
    const auto attend = [](const FusedAttention& options) {
        return [options](const In& in) { return attention(in[0], in[1], in[2], options); };
    };
    const std::vector<Shape> heads = {{1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 2}};
    MaskArray mask({1, 1, 3, 5}, 1);
    mask.data()[1] = mask.data()[9] = 0;
    FusedAttention plain, causal, masked, dropped;
    causal.causal = true;
    causal.alibi = {0.5, 0.25};
    masked.mask = mask;
    dropped.dropout = 0.3;
    const IdArray targets = random_ids({3}, 40, 5);
    const auto with_bf16 = [](const char* name, const std::vector<Shape>& shapes, auto f) {
        const auto rounded = [f](const In& in) {
            const WithPrecision scope(Precision::bf16);
            return f(in);
        };
        return OpCase<T>{name, shapes, rounded, Spread::products};
    };
    return {
        {"matmul", {{3, 4}, {4, 17}}, [](const In& in) { return matmul(in[0], in[1]); }, Spread::products},
        {"matmul (batches)",
         {{2, 3, 4}, {2, 4, 5}},
         [](const In& in) { return matmul(in[0], in[1]); },
         Spread::products},
        {"linear", {{3, 4}, {17, 4}, {17}}, [](const In& in) { return linear(in[0], in[1], in[2]); }, Spread::products},
        with_bf16("linear (bf16)", {{3, 4}, {17, 4}, {17}}, [](const In& in) { return linear(in[0], in[1], in[2]); }),
        {"linear_cross_entropy",
         {{3, 4}, {40, 4}},
         [=](const In& in) { return linear_cross_entropy(in[0], in[1], targets, kIgnore, 16, 0); },
         Spread::products},
        {"linear_cross_entropy (capped)",
         {{3, 4}, {40, 4}},
         [=](const In& in) { return linear_cross_entropy(in[0], in[1], targets, kIgnore, 16, 5); },
         Spread::products},
        {"attention", heads, attend(plain), Spread::products},
        {"attention (causal)", heads, attend(causal), Spread::products},
        {"attention (masked)", heads, attend(masked), Spread::products},
        {"attention (dropout)", heads, attend(dropped), Spread::products},
        with_bf16("attention (bf16)", heads, attend(plain)),
    };
}

template <class T>
std::vector<OpCase<T>> all_op_cases() {
    std::vector<OpCase<T>> all;
    for (const auto& family : {elementwise_cases<T>(), row_cases<T>(), shape_cases<T>(), product_cases<T>()}) {
        all.insert(all.end(), family.begin(), family.end());
    }
    return all;
}

}  // namespace inkling::testing

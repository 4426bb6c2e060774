// Every op as a function of its tensors, with shapes at which it may be called: rows of whole vectors and a ragged end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/precision.h"
#include "engine/ops.h"
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
        one("softplus", [](auto x) { return softplus(x); }),
        one("leaky_relu", [](auto x) { return leaky_relu(x, 0.2); }),
        one("elu", [](auto x) { return elu(x, 0.7); }),
        one("abs", [](auto x) { return abs(x); }),
        one("sin", [](auto x) { return sin(x); }),
        one("cos", [](auto x) { return cos(x); }),
        one(
            "log1p", [](auto x) { return log1p(x); }, true),
        one("expm1", [](auto x) { return expm1(x); }),
        one("clamp", [](auto x) { return clamp(x, -8, 9); }),
        pair("maximum", [](auto x, auto y) { return maximum(x, y); }),
        pair("minimum", [](auto x, auto y) { return minimum(x, y); }),
        {"pow (of tensors)", {a, b}, [](const In& in) { return pow(in[0], in[1]); }, Spread::alone, true},
        {"mse_loss", {a, a}, [](const In& in) { return mse_loss(in[0], in[1], Reduction::none); }},
        {"binary_cross_entropy_with_logits",
         {a, a},
         [](const In& in) { return binary_cross_entropy_with_logits(in[0], in[1], Reduction::none); }},
        pair("where", [=](auto x, auto y) { return where(every_third(a), x, y); }),
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
        one("min", [](auto x) { return min(x, {-1}); }),
        one("min (columns)", [](auto x) { return min(x, {0}); }),
        one("prod", [](auto x) { return prod(x, {-1}); }),
        one("prod (columns)", [](auto x) { return prod(x, {0}); }),
        one("logsumexp", [](auto x) { return logsumexp(x, {-1}); }),
        one("var", [](auto x) { return var(x, {-1}); }),
        one("std", [](auto x) { return inkling::std(x, {-1}); }),
        one("std (columns)", [](auto x) { return inkling::std(x, {0}); }),
        one("cumsum", [](auto x) { return cumsum(x, 1); }),
        one("cumsum (columns)", [](auto x) { return cumsum(x, 0); }),
        one("dropout",
            [](auto x) {
                return dropout(x, 0.5, {1, 2});
            }),
        one("rotary", [](auto x) { return rotary(slice(x, 1, 0, 36)); }),
        one("rms_norm (plain)", [](auto x) { return rms_norm(x, {}); }),
        {"rms_norm", {a, {37}}, [](const In& in) { return rms_norm(in[0], in[1]); }},
        {"layer_norm", {a, {37}, {37}}, [](const In& in) { return layer_norm(in[0], in[1], in[2]); }},
        {"cross_entropy", {a}, [=](const In& in) { return cross_entropy(in[0], targets); }},
        {"cross_entropy (smooth)",
         {a},
         [=](const In& in) {
             return cross_entropy(in[0], targets, {.reduction = Reduction::none, .label_smoothing = 0.2});
         }},
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
        one("split (sizes)",
            [](auto x) {
                return split(x, {1, 3, 2}, 1)[1];
            }),
        one("flatten", [](auto x) { return flatten(x); }),
        one("squeeze", [](auto x) { return squeeze(x); }),
        one("unsqueeze", [](auto x) { return unsqueeze(x, 1); }),
        one("expand",
            [](auto x) {
                return expand(x, {3, -1, 6});
            }),
        one("gather",
            [](auto x) {
                return gather(x, 1, random_ids({4, 3}, 6, 3));
            }),
        one("index_select", [](auto x) { return index_select(x, 0, random_ids({5}, 4, 3)); }),
        {"scatter_add",
         {{4, 6}, {3, 6}},
         [](const In& in) {
             return scatter_add(in[0], 0, random_ids({3, 6}, 4, 3), in[1]);
         }},
        one("sort", [](auto x) { return sort(x).values; }),
        one("topk", [](auto x) { return topk(x, 2, 0).values; }),
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
    const auto attend = [](const AttentionOptions& options) {
        return [options](const In& in) { return attention(in[0], in[1], in[2], options); };
    };
    const std::vector<Shape> heads = {{1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 2}};
    MaskArray mask({1, 1, 3, 5}, 1);
    mask.data()[1] = mask.data()[9] = 0;
    AttentionOptions plain, causal, masked, dropped;
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
        {"einsum",
         {{3, 4, 2}, {2, 5, 3}},
         [](const In& in) { return einsum("bij,jkb->bki", in[0], in[1]); },
         Spread::products},
        {"linear", {{3, 4}, {17, 4}, {17}}, [](const In& in) { return linear(in[0], in[1], in[2]); }, Spread::products},
        with_bf16("linear (bf16)", {{3, 4}, {17, 4}, {17}}, [](const In& in) { return linear(in[0], in[1], in[2]); }),
        {"add_low_rank",
         {{3, 17}, {3, 4}, {2, 4}, {17, 2}},
         [](const In& in) { return add_low_rank(in[0], in[1], in[2], in[3], 0.5); },
         Spread::products},
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

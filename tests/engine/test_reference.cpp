// Values and gradients of every op against PyTorch's, which tests/reference/make_engine_reference.py wrote down.
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/ops.h"
#include "tests/engine/helpers.h"
#include "tests/paths.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

template <class T>
using Cases = std::map<std::string, std::function<Tensor<T>(const std::vector<Tensor<T>>&)>>;

MaskArray pattern() {
    MaskArray mask({3, 4});
    for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = i % 3 == 1;
    return mask;
}

template <class T>
Tensor<T> causal_attention(const Tensor<T>& x, const Tensor<T>& w) {
    const auto parts = split(linear(x, w), 3, -1);
    const auto heads = [](const Tensor<T>& t) { return transpose(reshape(t, {2, 5, 2, 3}), 1, 2); };
    const Tensor<T> scores = scale(matmul(heads(parts[0]), transpose(heads(parts[1]), -2, -1)), 1 / std::sqrt(3.0));
    const Tensor<T> weights = softmax(masked_fill(scores, causal_mask(5, 5), -kInfinity));
    return reshape(transpose(matmul(weights, heads(parts[2])), 1, 2), {2, 5, 6});
}

template <class T>
Cases<T> cases() {
    using In = const std::vector<Tensor<T>>&;
    const IdArray ids = of<std::int32_t>({2, 3}, {0, 3, 3, 1, 0, 3});
    const IdArray targets = of<std::int32_t>({3, 0, -100, 10, 3});
    return {
        {"add", [](In in) { return add(in[0], in[1]); }},
        {"sub", [](In in) { return sub(in[0], in[1]); }},
        {"mul", [](In in) { return mul(in[0], in[1]); }},
        {"div", [](In in) { return div(in[0], in[1]); }},
        {"neg", [](In in) { return neg(in[0]); }},
        {"exp", [](In in) { return exp(in[0]); }},
        {"log", [](In in) { return log(in[0]); }},
        {"sqrt", [](In in) { return sqrt(in[0]); }},
        {"pow 2.5", [](In in) { return pow(in[0], 2.5); }},
        {"pow 3", [](In in) { return pow(in[0], 3); }},
        {"affine", [](In in) { return affine(in[0], -1.5, 0.25); }},
        {"tanh", [](In in) { return tanh(in[0]); }},
        {"sigmoid", [](In in) { return sigmoid(in[0]); }},
        {"relu", [](In in) { return relu(in[0]); }},
        {"silu", [](In in) { return silu(in[0]); }},
        {"gelu", [](In in) { return gelu(in[0]); }},
        {"gelu_erf", [](In in) { return gelu_erf(in[0]); }},
        {"sum", [](In in) { return sum(in[0]); }},
        {"sum 0 2",
         [](In in) {
             return sum(in[0], {0, 2});
         }},
        {"mean", [](In in) { return mean(in[0]); }},
        {"mean 1 keep", [](In in) { return mean(in[0], {1}, true); }},
        {"max 1", [](In in) { return max(in[0], {1}); }},
        {"max", [](In in) { return max(in[0]); }},
        {"reshape",
         [](In in) {
             return reshape(in[0], {4, 6});
         }},
        {"reshape transposed",
         [](In in) {
             return reshape(transpose(in[0], 0, 2), {6, 4});
         }},
        {"permute",
         [](In in) {
             return permute(in[0], {2, 0, 1});
         }},
        {"slice", [](In in) { return slice(in[0], 1, 1, 6, 2); }},
        {"split",
         [](In in) {
             const auto parts = split(in[0], 3, 1);
             return parts[0] * parts[2];
         }},
        {"concatenate",
         [](In in) {
             return concatenate<T>({in[0], in[1], in[0]}, 1);
         }},
        {"stack",
         [](In in) {
             return stack<T>({in[0], in[1]}, -1);
         }},
        {"where", [](In in) { return where(pattern(), in[0], in[1]); }},
        {"masked_fill", [](In in) { return masked_fill(in[0], pattern(), -2); }},
        {"tril -1", [](In in) { return tril(in[0], -1); }},
        {"triu 1", [](In in) { return triu(in[0], 1); }},
        {"matmul", [](In in) { return matmul(in[0], in[1]); }},
        {"matmul batched", [](In in) { return matmul(in[0], in[1]); }},
        {"matmul tall", [](In in) { return matmul(in[0], in[1]); }},
        {"matmul transposed", [](In in) { return matmul(in[0], transpose(in[1], -2, -1)); }},
        {"linear", [](In in) { return linear(in[0], in[1], in[2]); }},
        {"linear without bias", [](In in) { return linear(in[0], in[1]); }},
        {"embedding", [=](In in) { return embedding(ids, in[0]); }},
        {"softmax", [](In in) { return softmax(in[0]); }},
        {"softmax 0", [](In in) { return softmax(in[0], 0); }},
        {"log_softmax", [](In in) { return log_softmax(in[0]); }},
        {"layer_norm", [](In in) { return layer_norm(in[0], in[1], in[2]); }},
        {"layer_norm bare, eps 0.1", [](In in) { return layer_norm(in[0], {}, {}, 0.1); }},
        {"rms_norm", [](In in) { return rms_norm(in[0], in[1]); }},
        {"cross_entropy", [=](In in) { return cross_entropy(in[0], targets); }},
        {"attention", [](In in) { return causal_attention(in[0], in[1]); }},
    };
}

template <class T>
Cases<T> more_cases() {
    using In = const std::vector<Tensor<T>>&;
    const IdArray across = of<std::int32_t>({2, 3}, {0, 3, 3, 1, 0, 3});
    const IdArray down = of<std::int32_t>({4, 2}, {1, 0, 1, 1, 2, 0, 1, 2});
    const IdArray classes = of<std::int32_t>({3, 0, -100, 1, 4, 2});
    const std::vector<double> weight{0.5, 2, 0, 1, 3};
    const auto loss = [=](const CrossEntropyOptions& options) {
        return [=](In in) { return cross_entropy(in[0], classes, options); };
    };
    Cases<T> all{
        {"softplus", [](In in) { return softplus(in[0]); }},
        {"leaky_relu", [](In in) { return leaky_relu(in[0], 0.2); }},
        {"elu", [](In in) { return elu(in[0], 0.7); }},
        {"abs", [](In in) { return abs(in[0]); }},
        {"sin", [](In in) { return sin(in[0]); }},
        {"cos", [](In in) { return cos(in[0]); }},
        {"log1p", [](In in) { return log1p(in[0]); }},
        {"expm1", [](In in) { return expm1(in[0]); }},
        {"clamp", [](In in) { return clamp(in[0], -1, 2); }},
        {"clamp below", [](In in) { return clamp(in[0], 0.25); }},
        {"maximum", [](In in) { return maximum(in[0], in[1]); }},
        {"minimum", [](In in) { return minimum(in[0], in[1]); }},
        {"pow tensors", [](In in) { return pow(in[0], in[1]); }},
        {"pow tensors at 0", [](In in) { return pow(in[0], in[1]); }},
        {"min 1", [](In in) { return min(in[0], {1}); }},
        {"min 0 keep", [](In in) { return min(in[0], {0}, true); }},
        {"prod", [](In in) { return prod(in[0]); }},
        {"prod 1 with zeros", [](In in) { return prod(in[0], {1}); }},
        {"logsumexp 0 2",
         [](In in) {
             return logsumexp(in[0], {0, 2});
         }},
        {"logsumexp large", [](In in) { return logsumexp(in[0], {-1}, true); }},
        {"var", [](In in) { return var(in[0]); }},
        {"var 0 2 keep, correction 0",
         [](In in) {
             return var(in[0], {0, 2}, true, 0);
         }},
        {"std 1", [](In in) { return inkling::std(in[0], {1}); }},
        {"std of equal ones", [](In in) { return inkling::std(in[0], {1}, false, 2); }},
        {"cumsum 0", [](In in) { return cumsum(in[0], 0); }},
        {"cumsum 1", [](In in) { return cumsum(in[0], 1); }},
        {"reshape open",
         [](In in) {
             return reshape(transpose(in[0], 0, 1), {2, -1});
         }},
        {"flatten 1 2", [](In in) { return flatten(in[0], 1, 2); }},
        {"squeeze", [](In in) { return squeeze(in[0]); }},
        {"unsqueeze", [](In in) { return unsqueeze(in[0], -2); }},
        {"expand",
         [](In in) {
             return expand(in[0], {2, -1, 4});
         }},
        {"split sizes",
         [](In in) {
             return split(in[0], {1, 3, 2}, 1)[1] * split(in[0], {3, 0, 3}, 1)[2];
         }},
        {"gather 1", [=](In in) { return gather(in[0], 1, across); }},
        {"gather 0", [=](In in) { return gather(in[0], 0, down); }},
        {"index_select 1",
         [](In in) {
             return index_select(in[0], 1, of<std::int32_t>({2, 0, 2}));
         }},
        {"scatter_add 0", [=](In in) { return scatter_add(in[0], 0, down, in[1]); }},
        {"scatter_add 1", [=](In in) { return scatter_add(in[0], 1, across, in[1]); }},
        {"sort 0", [](In in) { return sort(in[0], 0).values; }},
        {"sort descending", [](In in) { return sort(in[0], -1, true).values; }},
        {"topk", [](In in) { return topk(in[0], 2).values; }},
        {"topk 0", [](In in) { return topk(in[0], 3, 0).values; }},
        {"cross_entropy weight", loss({.weight = weight})},
        {"cross_entropy smooth", loss({.label_smoothing = 0.1})},
        {"cross_entropy weight, smooth, none",
         loss({.weight = weight, .reduction = Reduction::none, .label_smoothing = 0.3})},
        {"cross_entropy weight, smooth, mean", loss({.weight = weight, .label_smoothing = 0.3})},
        {"cross_entropy sum", loss({.reduction = Reduction::sum})},
        {"mse_loss", [](In in) { return mse_loss(in[0], in[1]); }},
        {"mse_loss sum", [](In in) { return mse_loss(in[0], in[1], Reduction::sum); }},
        {"binary_cross_entropy_with_logits", [](In in) { return binary_cross_entropy_with_logits(in[0], in[1]); }},
        {"binary_cross_entropy_with_logits none",
         [](In in) { return binary_cross_entropy_with_logits(in[0], in[1], Reduction::none); }},
    };
    for (const char* equation :
         {"ij,jk->ik", "bhqd,bhkd->bhqk", "abc,cdb,e->eda", "ij,ij->i", "i,j", "ba,ab", "iji->j", "ii"})
        all[std::string("einsum ") + equation] = [=](In in) { return einsum(equation, in); };
    return all;
}

Array<double> read_array(const nlohmann::json& json) {
    const auto shape = json["shape"].get<std::vector<std::size_t>>();
    return of<double>(Shape(shape.begin(), shape.end()), json["data"].get<std::vector<double>>());
}

}  // namespace

TEMPLATE_TEST_CASE("reference: values and gradients are PyTorch's", "[engine]", float, double) {
    using T = TestType;
    const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;
    std::ifstream file(tests_path("reference/engine.json"));
    REQUIRE(file);
    const nlohmann::json reference = nlohmann::json::parse(file);
    Cases<T> ours = cases<T>();
    ours.merge(more_cases<T>());
    for (const auto& expected : reference["cases"]) {
        const auto name = expected["name"].get<std::string>();
        INFO(name);
        REQUIRE(ours.count(name) == 1);
        std::vector<Array<T>> at;
        for (const auto& input : expected["inputs"]) at.push_back(cast<T>(read_array(input)));
        const auto result = run<T>(ours[name], at, cast<T>(read_array(expected["dy"])));
        check_close(result.value, read_array(expected["y"]), tolerance);
        REQUIRE(result.grads.size() == expected["grads"].size());
        for (std::size_t i = 0; i < at.size(); ++i) {
            check_close(result.grads[i], read_array(expected["grads"][i]), tolerance, "gradient " + std::to_string(i));
        }
        ours.erase(name);
    }
    CHECK(ours.empty());
}

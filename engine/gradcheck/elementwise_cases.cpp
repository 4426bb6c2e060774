// Functions of numbers, element by element: a scalar, one to four axes, axes of size 1, broadcast operands.
#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"

namespace inkling {

template <class T>
OpCases<T> elementwise_cases() {
    using V = const Tensor<T>&;
    using enum Domain;
    const std::string one = "2x37 | () | 1 | 5 | 17 | 3x4 | 2x1x3 | 2x3x2x3 | 1x1";
    const std::string two =
        "2x37 37 | () () | 4 4 | 2x3 () | 2x3 3 | 2x1x4 3x1 | 1x3 2x3 | 2x2x2x3 2x1x3 | 1 5x1 | 3x4 3x4";
    OpCases<T> all = {
        {"add", two, [](V a, V b) { return add(a, b); }},
        {"sub", two, [](V a, V b) { return sub(a, b); }},
        {"mul", two, [](V a, V b) { return mul(a, b); }},
        {"div", two, [](V a, V b) { return div(a, b); }},
        {"neg", one, [](V x) { return neg(x); }},
        {"exp", one, [](V x) { return exp(x); }},
        {"log", {one, positive}, [](V x) { return log(x); }},
        {"sqrt", {one, positive}, [](V x) { return sqrt(x); }},
        {"pow 3", one, [](V x) { return pow(x, 3); }},
        {"affine", one, [](V x) { return affine(x, -1.5, 0.25); }},
        {"tanh", one, [](V x) { return tanh(x); }},
        {"sigmoid", one, [](V x) { return sigmoid(x); }},
        {"relu", one, [](V x) { return relu(x); }},
        {"silu", one, [](V x) { return silu(x); }},
        {"gelu", one, [](V x) { return gelu(x); }},
        {"gelu_erf", one, [](V x) { return gelu_erf(x); }},
        {"squared_relu", one, [](V x) { return squared_relu(x); }},
        {"softcap", one, [](V x) { return softcap(x, 1.5); }},
        {"softplus", one, [](V x) { return softplus(x); }},
        {"leaky_relu", one, [](V x) { return leaky_relu(x, 0.2); }},
        {"elu", one, [](V x) { return elu(x, 0.7); }},
        {"abs", one, [](V x) { return abs(x); }},
        {"sin", one, [](V x) { return sin(x); }},
        {"cos", one, [](V x) { return cos(x); }},
        {"asin of a sine", one, [](V x) { return asin(scale(sin(x), 0.5)); }},
        {"acos of a sine", one, [](V x) { return acos(scale(sin(x), 0.5)); }},
        {"atan", one, [](V x) { return atan(x); }},
        {"log1p", {one, positive}, [](V x) { return log1p(x); }},
        {"expm1", one, [](V x) { return expm1(x); }},
        {"erf", one, [](V x) { return erf(x); }},
        {"floor", one, [](V x) { return floor(x); }},
        {"ceil", one, [](V x) { return ceil(x); }},
        {"trunc", one, [](V x) { return trunc(x); }},
        {"round", one, [](V x) { return round(x); }},
        {"sign", one, [](V x) { return sign(x); }},
        {"exp2", one, [](V x) { return exp2(x); }},
        {"log2", {one, positive}, [](V x) { return log2(x); }},
        {"log10", {one, positive}, [](V x) { return log10(x); }},
        {"rsqrt", {one, positive}, [](V x) { return rsqrt(x); }},
        {"tan of a sine", one, [](V x) { return tan(sin(x)); }},
        {"sinh", one, [](V x) { return sinh(x); }},
        {"cosh", one, [](V x) { return cosh(x); }},
        {"asinh", one, [](V x) { return asinh(x); }},
        {"acosh of a sum", {one, positive}, [](V x) { return acosh(x + 1); }},
        {"atanh of a sine", one, [](V x) { return atanh(scale(sin(x), 0.5)); }},
        {"logsigmoid", one, [](V x) { return logsigmoid(x); }},
        {"softsign", one, [](V x) { return softsign(x); }},
        {"mish", one, [](V x) { return mish(x); }},
        {"celu", one, [](V x) { return celu(x, 0.7); }},
        {"selu", one, [](V x) { return selu(x); }},
        {"hardsigmoid", one, [](V x) { return hardsigmoid(x); }},
        {"hardswish", one, [](V x) { return hardswish(x); }},
        {"copysign", one, [](V x) { return copysign(x, Tensor<T>::full({}, -1)); }},
        {"logaddexp", two, [](V a, V b) { return logaddexp(a, b); }},
        {"clamp", one, [](V x) { return clamp(x, -1, 2); }},
        {"clamp below", one, [](V x) { return clamp(x, 0.25); }},
        {"maximum", two, [](V a, V b) { return maximum(a, b); }},
        {"minimum", two, [](V a, V b) { return minimum(a, b); }},
        {"remainder", "2x37 37 | 2x3 () | 2x1x4 3x1 | 1 5x1", [](V a, V b) { return remainder(a, b); }},
        {"fmod", "2x37 37 | 2x3 () | 2x1x4 3x1 | 1 5x1", [](V a, V b) { return fmod(a, b); }},
        {"pow of tensors", {two, positive_first}, [](V a, V b) { return pow(a, b); }},
        {"where", "2x37 37 | 2x3 2x3 | 3x4 4", [](V a, V b) { return where(some_mask(a.shape()), a, b); }},
        {"maximum of a number", one, [](V x) { return maximum(0.5, x); }},
        {"minimum of a number", one, [](V x) { return minimum(x, 0.25f); }},
        {"pow of a number", one, [](V x) { return pow(2, x); }},
        {"where broadcast", "3 2x1x1",
         [](V a, V b) {
             return where(some_mask({4, 1}), a, b);
         }},
        {"masked_fill", one, [](V x) { return masked_fill(x, some_mask(x.shape()), -2); }},
        {"masked_fill broadcast", "2x3x4",
         [](V x) {
             return masked_fill(x, some_mask({3, 4}), -2);
         }},
    };
    for (const double p : {2.5, 2.0, 1.0, 0.0, -1.0, 0.5})
        all.push_back({fmt::format("pow {}", p), {one, positive}, [p](V x) { return pow(x, p); }});
    for (const std::ptrdiff_t k : {0, 1, -1, 20}) {
        const std::string name = k ? fmt::format(" {}", k) : "";
        all.push_back({"tril" + name, "4x37 | 3x4 | 2x3x3", [k](V x) { return tril(x, k); }});
        all.push_back({"triu" + name, "4x37 | 3x4 | 2x4x5", [k](V x) { return triu(x, k); }});
    }
    for (const double p : {0.0, 0.2, 0.5, 0.9}) {
        const auto f = [p](V x) { return dropout(x, p, RandomKey{5, 6}); };
        all.push_back({fmt::format("dropout {}", p), {one, Nan::products}, f});
    }
    const std::string same = "2x37 2x37 | 3x5 3x5 | () ()";
    for (const auto& [name, reduction] :
         {std::pair{"", Reduction::mean}, {" sum", Reduction::sum}, {" none", Reduction::none}}) {
        const Reduction r = reduction;
        all.push_back({std::string("mse_loss") + name, same, [r](V x, V t) { return mse_loss(x, t, r); }});
        all.push_back({std::string("binary_cross_entropy_with_logits") + name, same,
                       [r](V x, V t) { return binary_cross_entropy_with_logits(x, t, r); }});
    }
    return all;
}

template OpCases<float> elementwise_cases();
template OpCases<double> elementwise_cases();

}  // namespace inkling

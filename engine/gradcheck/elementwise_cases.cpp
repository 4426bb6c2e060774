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
    OpCases<T> all;
    all.add("add", two, [](V a, V b) { return add(a, b); });
    all.add("sub", two, [](V a, V b) { return sub(a, b); });
    all.add("mul", two, [](V a, V b) { return mul(a, b); });
    all.add("div", two, [](V a, V b) { return div(a, b); });
    all.add("neg", one, [](V x) { return neg(x); });
    all.add("exp", one, [](V x) { return exp(x); });
    all.add("log", {one, positive}, [](V x) { return log(x); });
    all.add("sqrt", {one, positive}, [](V x) { return sqrt(x); });
    all.add("pow 3", one, [](V x) { return pow(x, 3); });
    all.add("affine", one, [](V x) { return affine(x, -1.5, 0.25); });
    all.add("tanh", one, [](V x) { return tanh(x); });
    all.add("sigmoid", one, [](V x) { return sigmoid(x); });
    all.add("relu", one, [](V x) { return relu(x); });
    all.add("silu", one, [](V x) { return silu(x); });
    all.add("gelu", one, [](V x) { return gelu(x); });
    all.add("gelu_erf", one, [](V x) { return gelu_erf(x); });
    all.add("squared_relu", one, [](V x) { return squared_relu(x); });
    all.add("softcap", one, [](V x) { return softcap(x, 1.5); });
    all.add("softplus", one, [](V x) { return softplus(x); });
    all.add("leaky_relu", one, [](V x) { return leaky_relu(x, 0.2); });
    all.add("elu", one, [](V x) { return elu(x, 0.7); });
    all.add("abs", one, [](V x) { return abs(x); });
    all.add("sin", one, [](V x) { return sin(x); });
    all.add("cos", one, [](V x) { return cos(x); });
    all.add("asin of a sine", one, [](V x) { return asin(scale(sin(x), 0.5)); });
    all.add("acos of a sine", one, [](V x) { return acos(scale(sin(x), 0.5)); });
    all.add("atan", one, [](V x) { return atan(x); });
    all.add("log1p", {one, positive}, [](V x) { return log1p(x); });
    all.add("expm1", one, [](V x) { return expm1(x); });
    all.add("erf", one, [](V x) { return erf(x); });
    all.add("floor", one, [](V x) { return floor(x); });
    all.add("ceil", one, [](V x) { return ceil(x); });
    all.add("trunc", one, [](V x) { return trunc(x); });
    all.add("round", one, [](V x) { return round(x); });
    all.add("sign", one, [](V x) { return sign(x); });
    all.add("exp2", one, [](V x) { return exp2(x); });
    all.add("log2", {one, positive}, [](V x) { return log2(x); });
    all.add("log10", {one, positive}, [](V x) { return log10(x); });
    all.add("rsqrt", {one, positive}, [](V x) { return rsqrt(x); });
    all.add("tan of a sine", one, [](V x) { return tan(sin(x)); });
    all.add("sinh", one, [](V x) { return sinh(x); });
    all.add("cosh", one, [](V x) { return cosh(x); });
    all.add("asinh", one, [](V x) { return asinh(x); });
    all.add("acosh of a sum", {one, positive}, [](V x) { return acosh(x + 1); });
    all.add("atanh of a sine", one, [](V x) { return atanh(scale(sin(x), 0.5)); });
    all.add("logsigmoid", one, [](V x) { return logsigmoid(x); });
    all.add("softsign", one, [](V x) { return softsign(x); });
    all.add("mish", one, [](V x) { return mish(x); });
    all.add("celu", one, [](V x) { return celu(x, 0.7); });
    all.add("selu", one, [](V x) { return selu(x); });
    all.add("hardsigmoid", one, [](V x) { return hardsigmoid(x); });
    all.add("hardswish", one, [](V x) { return hardswish(x); });
    all.add("copysign", one, [](V x) { return copysign(x, Tensor<T>::full({}, -1)); });
    all.add("logaddexp", two, [](V a, V b) { return logaddexp(a, b); });
    all.add("clamp", one, [](V x) { return clamp(x, -1, 2); });
    all.add("clamp below", one, [](V x) { return clamp(x, 0.25); });
    all.add("maximum", two, [](V a, V b) { return maximum(a, b); });
    all.add("minimum", two, [](V a, V b) { return minimum(a, b); });
    all.add("remainder", "2x37 37 | 2x3 () | 2x1x4 3x1 | 1 5x1", [](V a, V b) { return remainder(a, b); });
    all.add("fmod", "2x37 37 | 2x3 () | 2x1x4 3x1 | 1 5x1", [](V a, V b) { return fmod(a, b); });
    all.add("pow of tensors", {two, positive_first}, [](V a, V b) { return pow(a, b); });
    all.add("where", "2x37 37 | 2x3 2x3 | 3x4 4", [](V a, V b) { return where(some_mask(a.shape()), a, b); });
    all.add("maximum of a number", one, [](V x) { return maximum(0.5, x); });
    all.add("minimum of a number", one, [](V x) { return minimum(x, 0.25f); });
    all.add("pow of a number", one, [](V x) { return pow(2, x); });
    all.add("where broadcast", "3 2x1x1", [](V a, V b) { return where(some_mask({4, 1}), a, b); });
    all.add("masked_fill", one, [](V x) { return masked_fill(x, some_mask(x.shape()), -2); });
    all.add("masked_fill broadcast", "2x3x4", [](V x) { return masked_fill(x, some_mask({3, 4}), -2); });
    for (const double p : {2.5, 2.0, 1.0, 0.0, -1.0, 0.5})
        all.add(fmt::format("pow {}", p), {one, positive}, [p](V x) { return pow(x, p); });
    for (const std::ptrdiff_t k : {0, 1, -1, 20}) {
        const std::string name = k ? fmt::format(" {}", k) : "";
        all.add("tril" + name, "4x37 | 3x4 | 2x3x3", [k](V x) { return tril(x, k); });
        all.add("triu" + name, "4x37 | 3x4 | 2x4x5", [k](V x) { return triu(x, k); });
    }
    for (const double p : {0.0, 0.2, 0.5, 0.9}) {
        const auto f = [p](V x) { return dropout(x, p, RandomKey{5, 6}); };
        all.add(fmt::format("dropout {}", p), {one, Nan::products}, f);
    }
    const std::string same = "2x37 2x37 | 3x5 3x5 | () ()";
    for (const auto& [name, reduction] :
         {std::pair{"", Reduction::mean}, {" sum", Reduction::sum}, {" none", Reduction::none}}) {
        const Reduction r = reduction;
        all.add(std::string("mse_loss") + name, same, [r](V x, V t) { return mse_loss(x, t, r); });
        all.add(std::string("binary_cross_entropy_with_logits") + name, same,
                [r](V x, V t) { return binary_cross_entropy_with_logits(x, t, r); });
    }
    return all;
}

template OpCases<float> elementwise_cases();
template OpCases<double> elementwise_cases();

}  // namespace inkling

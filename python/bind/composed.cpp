// The ops of engine/more/composed.h, elementary.h, scatter.h and windows.h.
#include "python/bind/bind.h"
#include "python/bind/places.h"

namespace inkling::python {

void bind_composed(nb::module_& m, nb::class_<AnyTensor>& c) {
    Places op{m, c};
    const auto axes = "axes"_a = nb::none();
    const auto keep = "keep_axes"_a = false;
    op(
        "pad",
        []<class T>(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, double value) {
            return pad(x, widths, value);
        },
        "Adds `value` before and after the last axis, then the axis before it, and so on; a negative width removes "
        "elements.",
        "widths"_a, "value"_a = 0.0);
    op(
        "pad",
        []<class T>(const Tensor<T>& x, const std::vector<std::ptrdiff_t>& widths, Padding mode) {
            return pad(x, widths, mode);
        },
        "Pads with elements of x; mode: 'reflect', 'replicate' or 'circular'.", "widths"_a, "mode"_a);
    op(
        "flip",
        []<class T>(const Tensor<T>& x, const std::optional<Axes>& over) {
            return over && over->empty() ? x : flip(x, over.value_or(Axes()));
        },
        "Reverses the order along axes, by default along all.", axes);
    op("roll", BOTH(roll), "Moves element i to i + shift along an axis, modulo its size.", "shift"_a, "axis"_a);
    op("tile", BOTH(tile), "Repeats x times[i] times along axis i.", "times"_a);
    define(
        m, "one_hot", []<class T>(const IdArray& ids, std::size_t classes, DType) { return one_hot<T>(ids, classes); },
        "(...) -> (..., classes): 1 at the id, 0 elsewhere.", "ids"_a, "classes"_a, "dtype"_a = DType::float32);
    op("norm", BOTH(inkling::norm), "(sum |x|^p)^(1/p) over axes; p = inf: the largest |x|.", "p"_a = 2.0, axes, keep);
    op("argmin", BOTH(argmin), "The index of the first minimum, as argmax counts it.", axes, keep);
    op("argsort", BOTH(argsort), "The ids that sort() returns.", "axis"_a = -1, "descending"_a = false);
    op("cummax", BOTH(cummax), "(values, ids): the largest element so far along an axis, and its index.", "axis"_a);
    op("cumprod", BOTH(cumprod), "y_i = x_0 x_1 ... x_i along an axis.", "axis"_a);
    op("cummin", BOTH(cummin), "(values, ids): the smallest element so far along an axis, and its index.", "axis"_a);
    op("logcumsumexp", BOTH(logcumsumexp), "y_i = ln(e^x_0 + ... + e^x_i) along an axis.", "axis"_a);
    op("diagonal", BOTH(diagonal), "The elements [..., i, ..., i + k, ...] of axes a and b, as a new last axis.",
       "k"_a = 0, "a"_a = 0, "b"_a = 1);
    op("normalize", BOTH(normalize), "x / max(norm, eps), with the norm along an axis.", "p"_a = 2.0, "axis"_a = 1,
       "eps"_a = 1e-12);
    op("scatter", BOTH(scatter),
       "x with source[..., j, ...] written to [..., index[..., j, ...], ...]; the last of several writes wins. how "
       "'sum', 'prod', 'mean', 'max' or 'min' combines all values written to an element, and its own if include_self.",
       "axis"_a, "index"_a, "source"_a, "how"_a = Scatter::replace, "include_self"_a = true);
    op("unfold", BOTH(unfold),
       "Windows of `size` elements of an axis, `step` apart: (..., n, ...) -> (..., windows, ..., size).", "axis"_a,
       "size"_a, "step"_a = 1, "dilation"_a = 1);
    const auto one = AxisSizes(1), zero = AxisSizes(0);
    const auto convolution = [&]<class F>(const char* name, const F& conv, const char* doc) {
        op(
            name,
            [conv]<class T>(const Tensor<T>& x, const Tensor<T>& w, const Tensor<T>& b, AxisSizes stride,
                            AxisSizes padding, AxisSizes dilation, std::size_t groups) {
                return conv(x, w, b, ConvOptions{stride, padding, dilation, groups});
            },
            doc, "weight"_a, "bias"_a = nb::none(), "stride"_a = one, "padding"_a = zero, "dilation"_a = one,
            "groups"_a = 1);
    };
    convolution(
        "conv1d", [](const auto&... in) { return conv1d(in...); },
        "x (B, C, L), weight (O, C / groups, K), bias (O) or None -> (B, O, L')");
    convolution(
        "conv2d", [](const auto&... in) { return conv2d(in...); },
        "x (B, C, H, W), weight (O, C / groups, Kh, Kw), bias (O) or None -> (B, O, H', W')");
    op(
        "conv_transpose2d",
        []<class T>(const Tensor<T>& x, const Tensor<T>& w, const Tensor<T>& b, AxisSizes stride, AxisSizes padding,
                    AxisSizes output_padding, std::size_t groups, AxisSizes dilation) {
            return conv_transpose2d(x, w, b, ConvOptions{stride, padding, dilation, groups, output_padding});
        },
        "x (B, C, H, W), weight (C, O / groups, Kh, Kw), bias (O) or None -> (B, O, H', W')", "weight"_a,
        "bias"_a = nb::none(), "stride"_a = one, "padding"_a = zero, "output_padding"_a = zero, "groups"_a = 1,
        "dilation"_a = one);
    op(
        "max_pool2d",
        []<class T>(const Tensor<T>& x, AxisSizes size, AxisSizes stride, AxisSizes padding, AxisSizes dilation,
                    bool ceil_mode) {
            return max_pool2d(x, size, PoolOptions{stride, padding, dilation, ceil_mode});
        },
        "The maximum of windows of the last two axes; stride () means the window size.", "size"_a,
        "stride"_a = AxisSizes(), "padding"_a = zero, "dilation"_a = one, "ceil_mode"_a = false);
    op(
        "avg_pool2d",
        []<class T>(const Tensor<T>& x, AxisSizes size, AxisSizes stride, AxisSizes padding, bool ceil_mode,
                    bool count_padding) {
            return avg_pool2d(x, size, PoolOptions{stride, padding, 1, ceil_mode, count_padding});
        },
        "The mean of windows of the last two axes; stride () means the window size.", "size"_a,
        "stride"_a = AxisSizes(), "padding"_a = zero, "ceil_mode"_a = false, "count_padding"_a = true);
    op("interpolate", BOTH(interpolate),
       "Resizes the last axes, as torch.nn.functional.interpolate; mode: 'nearest', 'nearest-exact' or 'linear'.",
       "sizes"_a, "mode"_a = Interpolation::nearest, "align_corners"_a = false);

    op("exp2", BOTH(exp2), "2^x");
    op("log2", BOTH(log2), "The logarithm to base 2.");
    op("log10", BOTH(log10), "The logarithm to base 10.");
    op("rsqrt", BOTH(rsqrt), "x^(-1/2)");
    op("tan", BOTH(tan), "tan x");
    op("sinh", BOTH(sinh), "sinh x");
    op("cosh", BOTH(cosh), "cosh x");
    op("asinh", BOTH(asinh), "The inverse of sinh.");
    op("acosh", BOTH(acosh), "The inverse of cosh.");
    op("atanh", BOTH(atanh), "The inverse of tanh.");
    op("logsigmoid", BOTH(logsigmoid), "ln sigmoid(x)");
    op("softsign", BOTH(softsign), "x / (1 + |x|)");
    op("mish", BOTH(mish), "x tanh(softplus(x))");
    op("celu", BOTH(celu), "x, or alpha (e^(x / alpha) - 1) where x <= 0.", "alpha"_a = 1.0);
    op("selu", BOTH(selu), "1.0507 elu(x, 1.67326), which keeps mean 0 and variance 1 of normal inputs.");
    op("hardsigmoid", BOTH(hardsigmoid), "x / 6 + 1/2, between 0 and 1.");
    op("hardswish", BOTH(hardswish), "x hardsigmoid(x)");
    define(m, "copysign", BOTH(copysign), "|x| with the sign of `sign`, which counts as a constant.", "x"_a, "sign"_a);
    define(m, "logaddexp", BOTH(logaddexp), "ln(e^a + e^b), without overflow; shapes broadcast.", "a"_a, "b"_a);
}

}  // namespace inkling::python

// The ops of engine/ops/composed.h.
#include "python/bind/bind.h"
#include "python/bind/places.h"

namespace inkling::python {

void bind_composed(nb::module_& m, nb::class_<AnyTensor>& c) {
    Places op{m, c};
    const auto axes = "axes"_a = nb::none();
    const auto keep = "keep_axes"_a = false;
    op("pad", BOTH(pad),
       "`value` before and after the last axis, then the axis in front of it, ...; a negative width cuts off.",
       "widths"_a, "value"_a = 0.0);
    op("flip", BOTH(flip), "In reverse order along axes, or all.", axes);
    op("roll", BOTH(roll), "Element i goes to i + shift along an axis, and around its end.", "shift"_a, "axis"_a);
    op("tile", BOTH(tile), "x again and again, times[i] times along axis i.", "times"_a);
    m.def(
        "one_hot",
        [](const IdArray& ids, std::size_t classes, DType dtype) {
            return with_type(dtype, [&]<class T>() { return AnyTensor(one_hot<T>(ids, classes)); });
        },
        "ids"_a, "classes"_a, "dtype"_a = DType::float32, "(...) -> (..., classes): 1 at the id, 0 elsewhere.");
    op("norm", BOTH(inkling::norm), "(sum |x|^p)^(1/p) over axes; p = inf: the largest |x|.", "p"_a = 2.0, axes, keep);
    op("argmin", BOTH(argmin), "Where the first minimum is, as argmax.", axes, keep);
    op("argsort", BOTH(argsort), "The ids that sort() gives.", "axis"_a = -1, "descending"_a = false);
    op("cummax", BOTH(cummax), "(values, ids): the largest element so far along an axis, and where it is.", "axis"_a);
    op("cumprod", BOTH(cumprod), "y_i = x_0 x_1 ... x_i along an axis.", "axis"_a);
    op("scatter", BOTH(scatter),
       "x with source[..., j, ...] in place of [..., index[..., j, ...], ...]; of several the last stays.", "axis"_a,
       "index"_a, "source"_a);
    op("unfold", BOTH(unfold),
       "Windows of `size` elements of an axis, `step` apart: (..., n, ...) -> (..., windows, ..., size).", "axis"_a,
       "size"_a, "step"_a = 1, "dilation"_a = 1);
    const auto convolution = [&](const char* name, auto conv, const char* doc) {
        op(name, conv, doc, "weight"_a, "bias"_a = nb::none(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1);
    };
    convolution(
        "conv1d",
        []<class T>(const Tensor<T>& x, const Tensor<T>& w, const Maybe<T>& b, std::size_t stride, std::size_t padding,
                    std::size_t dilation) { return conv1d(x, w, b.tensor, stride, padding, dilation); },
        "x (B, C, L), weight (O, C, K), bias (O) or None -> (B, O, L')");
    convolution(
        "conv2d",
        []<class T>(const Tensor<T>& x, const Tensor<T>& w, const Maybe<T>& b, std::size_t stride, std::size_t padding,
                    std::size_t dilation) { return conv2d(x, w, b.tensor, stride, padding, dilation); },
        "x (B, C, H, W), weight (O, C, Kh, Kw), bias (O) or None -> (B, O, H', W')");
    op("max_pool2d", BOTH(max_pool2d), "The maximum of windows (size, size) of the last two axes; stride 0: size.",
       "size"_a, "stride"_a = 0);
    op("avg_pool2d", BOTH(avg_pool2d), "The mean of windows (size, size) of the last two axes; stride 0: size.",
       "size"_a, "stride"_a = 0);
}

}  // namespace inkling::python

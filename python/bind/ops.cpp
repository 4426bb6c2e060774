// Every op of engine/ops.h, with its shapes; the formulas and gradients are in engine/ops/.
#include "python/bind/bind.h"
#include "python/bind/places.h"

namespace inkling::python {

void bind_ops(nb::module_& m, nb::class_<AnyTensor>& c) {
    Places op{m, c};
    const auto axes = "axes"_a = nb::none();
    const auto keep = "keep_axes"_a = false;

    // Elementwise, with x's shape.
    op("neg", BOTH(neg), "-x");
    op("exp", BOTH(exp), "e^x");
    op("log", BOTH(log), "The natural logarithm; log(0) is -inf.");
    op("sqrt", BOTH(sqrt), "The square root.");
    op("abs", BOTH(abs), "|x|; the gradient at 0 is 0.");
    c.attr("__abs__") = c.attr("abs");
    op("sin", BOTH(sin), "sin x");
    op("cos", BOTH(cos), "cos x");
    op("asin", BOTH(asin), "The arc sine.");
    op("acos", BOTH(acos), "The arc cosine.");
    op("atan", BOTH(atan), "The arc tangent.");
    op("log1p", BOTH(log1p), "ln(1 + x), exact for small x.");
    op("expm1", BOTH(expm1), "e^x - 1, exact for small x.");
    op("erf", BOTH(erf), "The error function.");
    op("tanh", BOTH(tanh), "tanh x");
    op("sigmoid", BOTH(sigmoid), "1 / (1 + e^-x)");
    op("relu", BOTH(relu), "max(x, 0); the gradient at 0 is 0.");
    op("silu", BOTH(silu), "x sigmoid(x)");
    op("gelu", BOTH(gelu), "GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))");
    op("gelu_erf", BOTH(gelu_erf), "x Phi(x), Phi the normal distribution.");
    op("squared_relu", BOTH(squared_relu), "max(x, 0)^2");
    op("softplus", BOTH(softplus), "ln(1 + e^x)");
    op("leaky_relu", BOTH(leaky_relu), "x, or negative_slope x where x <= 0.", "negative_slope"_a = 0.01);
    op("elu", BOTH(elu), "x, or alpha (e^x - 1) where x <= 0.", "alpha"_a = 1.0);
    op("softcap", BOTH(softcap), "cap tanh(x / cap), cap > 0.", "cap"_a);
    op("floor", BOTH(floor), "x rounded down; the gradient is 0.");
    op("ceil", BOTH(ceil), "x rounded up; the gradient is 0.");
    op("trunc", BOTH(trunc), "x rounded toward 0; the gradient is 0.");
    op("round", BOTH(round), "x rounded, halves to the even number; the gradient is 0.");
    op("sign", BOTH(sign), "-1, 0 or 1; the gradient is 0.");
    op("clamp", BOTH(clamp), "x, but at least lowest and at most highest.", "lowest"_a,
       "highest"_a = std::numeric_limits<double>::infinity());
    op("affine", BOTH(affine), "factor x + offset", "factor"_a, "offset"_a);
    op("scale", BOTH(scale), "factor x", "factor"_a);
    const auto two = [&](const char* name, const auto& f, const char* doc) { define(m, name, f, doc, "a"_a, "b"_a); };
    const auto number = [&](const char* name, const auto& f) {  // maximum(x, 0)
        const auto number_last = [f]<class T>(const Tensor<T>& x, double y) { return f(x, as_tensor<T>(y)); };
        const auto number_first = [f]<class T>(double x, const Tensor<T>& y) { return f(as_tensor<T>(x), y); };
        define(m, name, number_last, "", "a"_a, "b"_a);
        define(m, name, number_first, "", "a"_a, "b"_a);
    };
    two("add", BOTH(add), "a + b; shapes broadcast as NumPy's.");
    two("sub", BOTH(sub), "a - b; shapes broadcast.");
    two("mul", BOTH(mul), "a b, element by element; shapes broadcast.");
    two("div", BOTH(div), "a / b; shapes broadcast.");
    two("maximum", BOTH(maximum), "The larger of two numbers; shapes broadcast. Equal ones share the gradient.");
    two("minimum", BOTH(minimum), "The smaller of two numbers; shapes broadcast. Equal ones share the gradient.");
    two("remainder", BOTH(remainder), "a - b floor(a / b), Python's %; shapes broadcast.");
    two("fmod", BOTH(fmod), "a - b trunc(a / b), C's fmod; shapes broadcast.");
    number("maximum", [](const auto& a, const auto& b) { return maximum(a, b); });
    number("minimum", [](const auto& a, const auto& b) { return minimum(a, b); });
    number("remainder", [](const auto& a, const auto& b) { return remainder(a, b); });
    number("fmod", [](const auto& a, const auto& b) { return fmod(a, b); });
    two("matmul", BOTH(matmul),
        "a (..., M, K), b (..., K, N) -> (..., M, N); the axes in front broadcast. A vector (K) is a row as a, a "
        "column as b.");
    op(
        "pow", []<class T>(const Tensor<T>& x, double exponent) { return pow(x, exponent); }, "x^exponent",
        "exponent"_a);
    op(
        "pow", []<class T>(const Tensor<T>& x, const Tensor<T>& e) { return pow(x, e); },
        "x^exponent of two tensors; shapes broadcast.", "exponent"_a);

    // Over axes, which are removed, or stay with size 1; no axes: over all.
    op("sum", BOTH(sum), "The sum over axes, by default all. The axes are removed, or kept with size 1 if keep_axes.",
       axes, keep);
    op("mean", BOTH(mean), "The mean over axes.", axes, keep);
    op("max", BOTH(max), "The maximum over axes; elements that share it share its gradient.", axes, keep);
    op("min", BOTH(min), "The minimum over axes; elements that share it share its gradient.", axes, keep);
    op("prod", BOTH(prod), "The product over axes.", axes, keep);
    op("logsumexp", BOTH(logsumexp), "ln sum e^x over axes, without overflow.", axes, keep);
    const auto spread = [&](const char* name, const auto& f, const char* doc) {  // with axis=, NumPy's divisor n
        c.def(name, with_array_axes(python_function(name, f)), doc, nb::kw_only(), "axis"_a, "keepdims"_a = false,
              "correction"_a = 0.0);
        op(name, f, "", axes, nb::kw_only(), keep, "correction"_a = 1.0);
    };
    spread("var", BOTH(var),
           "sum (x - mean)^2 / (n - correction) over axes. The correction is 1 as in PyTorch, with NumPy's axis= 0.");
    spread("std", BOTH(inkling::std), "The square root of var.");
    op("argmax", BOTH(argmax),
       "The index of the first maximum along one axis, or the row-major index over several, as an array of int32.",
       axes, keep);
    op("cumsum", BOTH(cumsum), "y_i = x_0 + ... + x_i along an axis.", "axis"_a);

    op(
        "softmax", []<class T>(const Tensor<T>& x, std::ptrdiff_t axis) { return softmax(x, axis); },
        "e^x_i / sum_j e^x_j along an axis; -inf gets 0.", "axis"_a = -1);
    op(
        "softmax",
        []<class T>(const Tensor<T>& x, const MaskArray& allowed, Masked none) { return softmax(x, allowed, none); },
        "softmax along the last axis of x (B, ..., Lq, Lk), over the elements where allowed, which broadcasts to x, is "
        "true. none: the result for a row without allowed elements, 'error', 'uniform' or 'zero'.",
        "allowed"_a, "none"_a = Masked::error);
    op("log_softmax", BOTH(log_softmax), "x_i - ln sum_j e^x_j along an axis.", "axis"_a = -1);
    op("layer_norm", BOTH(layer_norm),
       "(x - mean) / sqrt(variance + eps) gain + bias over the last axis; gain and bias (C) or None.",
       "gain"_a = nb::none(), "bias"_a = nb::none(), "eps"_a = 1e-5);
    op("rms_norm", BOTH(rms_norm), "x / sqrt(mean(x^2) + eps) gain over the last axis; gain (C) or None.",
       "gain"_a = nb::none(), "eps"_a = 1e-5);

    op("linear", BOTH(linear), "x W^T + b: x (..., in), weight (out, in), bias (out) or None -> (..., out).",
       "weight"_a, "bias"_a = nb::none());
    define(m, "add_low_rank", BOTH(add_low_rank),
           "y + scale x A^T B^T: y (..., out), x (..., in), a (r, in), b (out, r).", "y"_a, "x"_a, "a"_a, "b"_a,
           "scale"_a);
    define(
        m, "embedding", []<class T>(const IdArray& ids, const Tensor<T>& weight) { return embedding(ids, weight); },
        "ids (...), weight (V, C) -> (..., C): row ids[i] of the table.", "ids"_a, "weight"_a);
    m.def(
        "einsum",
        [](const std::string& equation, const nb::args& operands) {
            std::vector<AnyTensor> all;
            if (!nb::try_cast(operands, all)) throw nb::type_error("einsum: tensors are required behind the equation");
            check(!all.empty(), "einsum: at least one tensor is required");
            const nb::gil_scoped_release others_run;
            return visit(all[0], [&]<class T>(const Tensor<T>&) {
                return AnyTensor(einsum(equation, Argument<std::vector<Tensor<float>>>::get<T>("einsum", all)));
            });
        },
        "equation"_a, "operands"_a, "Sums of products over named axes: einsum('bqd,bkd->bqk', q, k).");

    // Losses; logits (..., V), targets (...).
    op(
        "cross_entropy",
        []<class T>(const Tensor<T>& x, const IdArray& targets, const std::vector<double>& weight, std::int32_t ignore,
                    Reduction reduction, double smoothing) {
            return cross_entropy(x, targets, CrossEntropyOptions{weight, ignore, reduction, smoothing});
        },
        "-ln softmax(x)[target] in nats, for logits x (..., V) and targets (...). reduction: 'mean' over the targets "
        "that are not `ignore`, 'sum', or 'none' for one loss per row. weight: one per class.",
        "targets"_a, "weight"_a = std::vector<double>(), "ignore"_a = kIgnore, "reduction"_a = Reduction::mean,
        "label_smoothing"_a = 0.0);
    op(
        "cross_entropy",
        []<class T>(const Tensor<T>& x, const Tensor<T>& targets, const std::vector<double>& weight,
                    Reduction reduction, double smoothing) {
            return cross_entropy(x, targets, CrossEntropyOptions{weight, kIgnore, reduction, smoothing});
        },
        "cross_entropy with a tensor of probabilities (..., V) as targets.", "targets"_a,
        "weight"_a = std::vector<double>(), "reduction"_a = Reduction::mean, "label_smoothing"_a = 0.0);
    op(
        "nll_loss",
        []<class T>(const Tensor<T>& x, const IdArray& targets, const std::vector<double>& weight, std::int32_t ignore,
                    Reduction reduction) {
            return nll_loss(x, targets, CrossEntropyOptions{weight, ignore, reduction});
        },
        "cross_entropy for log-probabilities x (..., V).", "targets"_a, "weight"_a = std::vector<double>(),
        "ignore"_a = kIgnore, "reduction"_a = Reduction::mean);
    op("linear_cross_entropy", BOTH(linear_cross_entropy),
       "cross_entropy(softcap(linear(x, weight), cap), targets), x (..., C), weight (V, C), targets (...), with at "
       "most `block` columns of logits in memory; block 0 chooses a size. cap 0: no softcap.",
       "weight"_a, "targets"_a, "ignore"_a = kIgnore, "block"_a = 0, "cap"_a = 0.0);
    op("mse_loss", BOTH(mse_loss), "(x - target)^2 for equal shapes; reduction: 'mean', 'sum' or 'none'.", "target"_a,
       "reduction"_a = Reduction::mean);
    op("binary_cross_entropy_with_logits", BOTH(binary_cross_entropy_with_logits),
       "-t ln p - (1 - t) ln(1 - p), p = sigmoid(x), for equal shapes.", "target"_a, "reduction"_a = Reduction::mean);

    op("dropout", BOTH(dropout), "Keeps an element with probability 1 - p, and multiplies it by 1 / (1 - p).", "p"_a,
       "key"_a);
    define(
        m, "attention",
        []<class T>(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, std::optional<double> scale,
                    bool causal, const MaskArray& mask, double dropout_p, const RandomKey& key,
                    const std::vector<double>& alibi, Masked masked, const IdArray& begins, std::size_t window) {
            return attention(q, k, v,
                             AttentionOptions{scale, causal, mask, dropout_p, key, alibi, masked, begins, window});
        },
        "softmax(scale q k^T) v in one pass, scale 1 / sqrt(d) by default: q (B, H, Lq, d), k (B, K, Lk, d), v (B, K, "
        "Lk, dv) -> (B, H, Lq, dv); H / K query heads share a key head. causal: a query sees its own key and earlier "
        "ones; the last query is at the last key. mask broadcasts to (B, H, Lq, Lk), 0 is blocked; alibi: a slope per "
        "head; begins (B, L): where each position's document begins; window: the number of keys that a causal query "
        "sees, its own included. nn.scaled_dot_product_attention also returns the weights.",
        "q"_a, "k"_a, "v"_a, "scale"_a = nb::none(), "causal"_a = false, "mask"_a = nb::none(), "dropout"_a = 0.0,
        "dropout_key"_a = RandomKey(), "alibi"_a = std::vector<double>(), "masked"_a = Masked::error,
        "begins"_a = nb::none(), "window"_a = 0);
    op("token_shift", BOTH(token_shift),
       "x_t + w x_(t-1) of x (..., L, C) with w (C); nothing is before the first row, nor before position 0 of "
       "positions (..., L).",
       "w"_a, "positions"_a = nb::none());
    op(
        "rotary",
        []<class T>(const Tensor<T>& x, double base, RotaryPairs pairs, bool clockwise, std::size_t start,
                    const IdArray& positions) {
            return rotary(x, RotaryOptions{base, pairs, clockwise, start, positions});
        },
        "x (..., L, d): pair i of the row at position p is rotated by p base^(-2i/d).", "base"_a = 10000.0,
        "pairs"_a = RotaryPairs::halves, "clockwise"_a = false, "start"_a = 0, "positions"_a = nb::none());

    // Shapes: views without copies.
    c.def(
        "reshape",
        [](const AnyTensor& x, const nb::args& sizes) {
            OpenShape shape{Shape()};
            if (!nb::try_cast(sizes.size() == 1 ? nb::object(sizes[0]) : nb::object(sizes), shape))
                throw nb::type_error("reshape: integers, or a sequence of them, are required");
            return visit(x, [&](auto& t) { return AnyTensor(reshape(t, shape)); });
        },
        "x.reshape(2, -1)");
    op("reshape", BOTH(reshape), "The same elements in another shape; -1 is inferred from the other sizes.", "shape"_a);
    op("flatten", BOTH(flatten), "Joins axes first to last into one.", "first"_a = 0, "last"_a = -1);
    op(
        "squeeze",
        []<class T>(const Tensor<T>& x, const std::optional<Axes>& over) {
            return over && over->empty() ? x : squeeze(x, over.value_or(Axes()));
        },
        "Removes these axes of size 1; by default all axes of size 1.", axes);
    op("unsqueeze", BOTH(unsqueeze), "Inserts an axis of size 1 before `axis`.", "axis"_a);
    op("expand", BOTH(expand), "x broadcast to a shape, as a view; -1 keeps x's size.", "shape"_a);
    op("permute", BOTH(permute), "Axis i of the result is axis axes[i] of x.", "axes"_a);
    op("transpose", BOTH(transpose), "Swaps axes a and b.", "a"_a, "b"_a);
    op("slice", BOTH(slice), "Elements [begin, end) of an axis, every step-th; x[...] does the same.", "axis"_a,
       "begin"_a, "end"_a, "step"_a = 1);
    define(
        c, "split",
        []<class T>(const Tensor<T>& x, std::size_t parts, std::ptrdiff_t axis) { return split(x, parts, axis); },
        "Splits an axis into pieces of `size`, the last of which may be smaller, or of these sizes, as in PyTorch; "
        "with "
        "axis=, as in NumPy, into `parts` of equal size.",
        "parts"_a, nb::kw_only(), "axis"_a);
    define(
        c, "split",
        []<class T>(const Tensor<T>& x, std::size_t size, std::ptrdiff_t axis) {
            check(size > 0, "split: expected pieces of at least 1, got 0");
            std::vector<std::size_t> sizes;
            for (std::size_t left = x.dim(axis); left > 0 || sizes.empty(); left -= sizes.back())
                sizes.push_back(std::min(size, left));
            return split(x, sizes, axis);
        },
        "", "size"_a, "dim"_a = 0);
    define(
        c, "split",
        []<class T>(const Tensor<T>& x, const std::vector<std::size_t>& sizes, std::ptrdiff_t axis) {
            return split(x, sizes, axis);
        },
        "", "sizes"_a, "dim"_a = 0);
    m.attr("split") = c.attr("split");
    define(c, "repeat", BOTH(repeat), "a b -> a a b b along an axis.", "times"_a, nb::kw_only(), "axis"_a);
    m.attr("repeat") = c.attr("repeat");
    op("tril", BOTH(tril), "x (..., M, N) with zeros above the k-th diagonal.", "k"_a = 0);
    op("triu", BOTH(triu), "x (..., M, N) with zeros below the k-th diagonal.", "k"_a = 0);
    define_with_names(
        m, "concatenate",
        []<class T>(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis) { return concatenate(parts, axis); },
        "Concatenates tensors along an axis.", "parts"_a, "axis"_a = 0);
    define_with_names(
        m, "stack",
        []<class T>(const std::vector<Tensor<T>>& parts, std::ptrdiff_t axis) { return stack(parts, axis); },
        "Stacks tensors of one shape along a new axis.", "parts"_a, "axis"_a = 0);

    // Selecting elements.
    define(
        m, "where",
        []<class T>(const MaskArray& mask, const Tensor<T>& a, const Tensor<T>& b) { return where(mask, a, b); },
        "a where the mask is true, b elsewhere; all broadcast.", "mask"_a, "a"_a, "b"_a);
    define(
        m, "where",
        []<class T>(const MaskArray& mask, const Tensor<T>& a, double b) { return where(mask, a, as_tensor<T>(b)); },
        "", "mask"_a, "a"_a, "b"_a);
    define(
        m, "where",
        []<class T>(const MaskArray& mask, double a, const Tensor<T>& b) { return where(mask, as_tensor<T>(a), b); },
        "", "mask"_a, "a"_a, "b"_a);
    op("masked_fill", BOTH(masked_fill), "`value` where the mask, which broadcasts to x, is true; x elsewhere.",
       "mask"_a, "value"_a);
    m.def("causal_mask", &causal_mask, "rows"_a, "columns"_a,
          "(rows, columns) of bool: true where a causal query must not see the key.");
    op("gather", BOTH(gather), "y[..., j, ...] = x[..., index[..., j, ...], ...], of index's shape.", "axis"_a,
       "index"_a);
    op("index_select", BOTH(index_select), "The elements at the positions index (n) of an axis.", "axis"_a, "index"_a);
    op("scatter_add", BOTH(scatter_add), "x with source[..., j, ...] added to [..., index[..., j, ...], ...].",
       "axis"_a, "index"_a, "source"_a);
    op("sort", BOTH(sort), "(values, ids): the elements along an axis in order, and their indices in x.", "axis"_a = -1,
       "descending"_a = false);
    op("topk", BOTH(topk), "(values, ids): the k largest along an axis, in order.", "k"_a, "axis"_a = -1);
}

}  // namespace inkling::python

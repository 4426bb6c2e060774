//   linear   Y = X W^T + b     dX = dY W     dW = dY^T X     db = sum of dY's rows
// The product adds the bias; the products dX and dW write to the memory of the gradient. In bfloat16 X is saved
// rounded, because the product dW rounds it anyway; or it is recomputed, if the op that made it can do so
// (can_recompute). Backward rounds W again, because a second copy of all weights is large. A packed W is widened by
// blocks of rows: each gives columns of Y, and adds to dX along K, in order, so the bits are those of the whole
// product.
#include "engine/fused/linear.h"

#include "engine/autograd/op_gradients.h"
#include "engine/base/parallel.h"
#include "engine/kernels/add_row.h"
#include "engine/ops/plain/plain.h"
#include "engine/ops/shape/shape.h"
#include "engine/weights/operand.h"

namespace inkling {

template <class T>
static void check_linear(const Tensor<T>& x, const Weight<T>& weight, const Tensor<T>& bias) {
    check_defined("linear", x, weight);
    check(x.rank() >= 1 && weight.shape().size() == 2 && x.dim(-1) == weight.dim(1) &&
              (!bias.defined() || bias.shape() == Shape{weight.dim(0)}),
          "linear: expected x (..., in), weight (out, in) and bias (out), got {}, {} and {}", x.shape(), weight.shape(),
          bias.defined() ? to_string(bias.shape()) : "none");
}

template <class T>
Tensor<T> linear(const Tensor<T>& x, const std::type_identity_t<Weight<T>>& weight, const Tensor<T>& bias) {
    check_linear(x, weight, bias);
    if constexpr (std::is_same_v<T, float>) {
        if (weight.packed() && weight.packed()->rounds()) return linear_by_row(x, weight, bias);
    }
    const std::size_t in = weight.dim(1), out = weight.dim(0);
    const std::size_t rows = size_of(Shape(x.shape().begin(), x.shape().end() - 1));
    Shape shape = x.shape();
    shape.back() = out;
    Array<T> y(shape), y2 = y.reshaped({rows, out});
    const std::function<ConstArray<T>()> recompute = recomputation(x);
    const bool keep = weight.tensor().requires_grad() && !recompute;
    const ConstArray<T> rows_of_x = x.value().reshaped({rows, in});
    Operand<T> x2 = keep || weight.packed() ? Operand<T>::rounded(rows_of_x) : Operand<T>(rows_of_x);
    const Precision precision = x2.precision();
    const SavedWeight<T> w(weight);
    const ConstArray<T> b = bias.value().contiguous();
    w.each_block(precision, [&](std::size_t begin, std::size_t end, const Operand<T>& w_rows) {
        Array<T> columns = y2.sliced(1, begin, end);
        product(x2, w_rows.transposed(), columns, {}, b.defined() ? b.sliced(0, begin, end) : b);
    });
    if (!keep) x2 = Operand<T>();
    auto gradient = [=, saves_x = weight.tensor().requires_grad(), shape_x = x.shape()](const Tensor<T>& dy,
                                                                                        Gradients<T>& grads) {
        const WithPrecision scope(precision);
        grads.add_through(dy, [&] {  // values that no gradient needs are zeros
            const auto zeros = [](const Shape& of) { return Array<T>({}, T{0}).broadcasted(of); };
            const ConstArray<T> kept = !saves_x ? zeros(shape_x) : recompute ? recompute() : x2.values();
            const Tensor<T> in_rows = reshape(grads.in(0, kept.reshaped(shape_x)), Shape{rows, in});
            const Tensor<T> shift = grads.wanted(2) ? grads.in(2, zeros({out})) : Tensor<T>();
            return reshape(plain::linear(in_rows, grads.in(1, w.operand(Precision::fp32).full()), shift), dy.shape());
        });
    };
    auto fast = [=](const Array<T>& dy, Gradients<T>& grads) {
        const Array<T> dy_rows = dy.reshaped({rows, out});
        Array<T> db;
        const auto dy2 = Operand<T>::rounded(dy_rows, precision, grads.wanted(2) ? &db : nullptr);
        if (grads.wanted(1)) {  // first, so that a recomputed input is freed at once
            grads.accumulate_into(1, [&](Array<T>& dw, bool accumulate) {
                const Operand<T> kept = recompute ? Operand<T>(recompute().reshaped({rows, in}), precision) : x2;
                product(dy2.transposed(), kept, dw, {accumulate});
            });
        }
        if (grads.wanted(0)) {
            grads.accumulate_into(0, [&](const Array<T>& dx, bool accumulate) {
                Array<T> dx2 = dx.reshaped({rows, in});
                w.each_block(precision, [&](std::size_t begin, std::size_t end, const Operand<T>& w_rows) {
                    product(dy2.columns(begin, end), w_rows, dx2, {accumulate || begin > 0});
                });
            });
        }
        if (grads.wanted(2)) grads.add(2, std::move(db));
    };
    return record("linear", std::move(y), inputs(x, weight, bias), std::move(gradient), std::move(fast));
}

void linear_by_row(const Weight<float>& weight, const Tensor<float>& bias, std::size_t begin, std::size_t end,
                   const float* x, std::size_t batch, float* y, std::size_t y_stride) {
    weight.packed() ? weight.packed()->multiply(begin, end, x, batch, y, y_stride)
                    : multiply(weight.value(), begin, end, x, batch, y, y_stride);
    for (std::size_t b = 0; bias.defined() && b < batch; ++b)
        add_row(end - begin, y + b * y_stride + begin, bias.value().data() + begin);
}

Tensor<float> linear_by_row(const Tensor<float>& x, const Weight<float>& weight, const Tensor<float>& bias) {
    check_linear(x, weight, bias);
    check(weight.packed() || weight.value().is_contiguous(),
          "linear_by_row: expected a contiguous weight, got a view of shape {}", weight.shape());
    const std::size_t in = weight.dim(1), out = weight.dim(0);
    const std::size_t rows = size_of(Shape(x.shape().begin(), x.shape().end() - 1));
    Shape shape = x.shape();
    shape.back() = out;
    Array<float> y(shape);
    if (weight.packed() && weight.packed()->blocks()) {
        weight.packed()->multiply_blocks(0, out, x.value().contiguous().data(), rows, y.data(), out);
        for (std::size_t r = 0; bias.defined() && r < rows; ++r) add_row(out, y.data() + r * out, bias.value().data());
        return Tensor<float>(y);
    }
    Array<float> rounded = x.value().clone();
    round_for(product_precision(), rounded.data(), rounded.size());
    parallel_rows(out, in * rows, [&](std::size_t begin, std::size_t end) {
        linear_by_row(weight, bias, begin, end, rounded.data(), rows, y.data(), out);
    });
    return Tensor<float>(y);
}

template Tensor<float> linear(const Tensor<float>&, const Weight<float>&, const Tensor<float>&);
template Tensor<double> linear(const Tensor<double>&, const Weight<double>&, const Tensor<double>&);

}  // namespace inkling

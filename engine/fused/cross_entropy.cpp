//   cross_entropy   y = mean_i (l_i - (z_i[t_i] - m_i)), m_i = max_j z_ij, l_i = ln sum_j e^(z_ij - m_i)
//                   dz_ij = dy (e^(z_ij - m_i - l_i) - [j = t_i]) / n
// With class weights w and label smoothing s over V classes, row i has targets q_ij = w_j ((1 - s) [j = t_i] + s / V):
//                   y_i = sum_j q_ij (l_i - (z_ij - m_i)), and a mean is their sum over sum_i w[t_i]
//                   dz_ij = dy_i (e^(z_ij - m_i - l_i) sum_k q_ik - q_ij)
// A row with a NaN, with an infinite logit or without a finite one makes the loss NaN, and its gradient.
// One op covers all options: with log_softmax and gather, an ignored row with a NaN would get a gradient of NaN.
// The probabilities are not saved: backward recomputes them from the logits and two numbers per row.
#include "engine/fused/cross_entropy.h"

#include <cmath>

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/kernels/lanes.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/softmax.h"
#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling {
template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, std::int32_t ignore) {
    return cross_entropy(logits, targets, CrossEntropyOptions{.ignore = ignore});
}

template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets_any, const CrossEntropyOptions& options) {
    check_defined("cross_entropy", logits);
    check(targets_any.defined(), "cross_entropy: targets are required, got an undefined array");
    check(logits.rank() > 0 && logits.dim(-1) > 0 &&
              targets_any.shape() == Shape(logits.shape().begin(), logits.shape().end() - 1),
          "cross_entropy: logits (..., V) and targets (...) are required, got {} and {}", logits.shape(),
          targets_any.shape());
    const std::int32_t ignore = options.ignore;
    const double smoothing = options.label_smoothing;
    const ConstArray<T> z = logits.value().contiguous();
    const IdArray targets = targets_any.clone();  // the caller may write to its own before backward
    const std::size_t width = z.dim(-1), rows = targets.size();
    const std::vector<double>& w = options.weight;
    check(w.empty() || w.size() == width, "cross_entropy: a weight for each of {} classes is required, got {}", width,
          w.size());
    check(smoothing >= 0 && smoothing <= 1, "cross_entropy: label smoothing from 0 to 1 is required, got {}",
          smoothing);
    const auto weight_of = [w](std::size_t j) { return w.empty() ? 1.0 : w[j]; };
    const double own = 1 - smoothing;
    double total_weight = 0, all = 0;  // all: sum_j s / V w_j
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t t = targets.data()[i];
        check(t == ignore || (t >= 0 && static_cast<std::size_t>(t) < width),
              "cross_entropy: targets must be at least 0 and below {}, or {}, got {}", width, ignore, t);
        if (t != ignore) total_weight += weight_of(static_cast<std::size_t>(t));
    }
    Array<T> maxima({rows}), log_sums({rows}), shares, smooth;
    if (smoothing > 0) {
        shares = Array<T>({width});  // s / V w_j
        smooth = Array<T>({rows});   // sum_j s / V w_j (z_ij - m_i)
        for (std::size_t j = 0; j < width; ++j) {
            const double share = smoothing / static_cast<double>(width) * weight_of(j);
            shares.data()[j] = static_cast<T>(share);
            all += share;
        }
    }
    T *const top = maxima.data(), *const log_sum = log_sums.data();
    each_row(rows, width, [&](std::size_t i) {
        if (targets.data()[i] == ignore) return;
        const T* const row = z.data() + i * width;
        top[i] = simd_max(width, row);
        const Vec<T> m(top[i]);
        log_sum[i] = portable::log(simd_sum(
            width, [m](auto sum, auto v) { return sum + portable::exp(v - m); }, row));
        if (smoothing > 0) {
            smooth.data()[i] = simd_sum(
                width, [m](auto sum, auto v, auto q) { return multiply_add(q, v - m, sum); }, row, shares.data());
        }
    });
    const bool each = options.reduction == Reduction::none;
    Array<T> y(each ? targets.shape() : Shape{}, T{0});
    double total = 0;  // in double and in order, so that the mean of many rows keeps its last digits
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t t = targets.data()[i];
        if (t == ignore) continue;
        const auto at = static_cast<std::size_t>(t);
        const T target = z.data()[i * width + at];
        double loss = static_cast<double>(log_sum[i]) - static_cast<double>(target - top[i]);
        loss *= own * weight_of(at);
        if (smoothing > 0) loss += all * static_cast<double>(log_sum[i]) - static_cast<double>(smooth.data()[i]);
        if (each) y.data()[i] = static_cast<T>(loss);
        total += loss;
    }
    const bool is_mean = options.reduction == Reduction::mean;
    const double weight = !is_mean ? 1.0 : total_weight != 0 ? 1.0 / total_weight : 0.0;
    if (!each) *y.data() = static_cast<T>(total * weight);
    const auto gradient = [=, z = Saved(z)](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] { return plain::cross_entropy(grads.in(0, *z), targets, options); });
    };
    const auto fast = [=, z = Saved(z)](const Array<T>& dy_any, Gradients<T>& grads) {
        Array<T> dz(z->shape());
        T* const out = dz.data();
        const ConstArray<T> dy = dy_any.contiguous();
        const T *const pz = z->data(), *const pm = maxima.data(), *const pl = log_sums.data();
        each_row(rows, width, [&](std::size_t i) {
            T* const row = out + i * width;
            const std::int32_t t = targets.data()[i];
            if (t == ignore) {
                std::fill_n(row, width, T{0});
                return;
            }
            const T g = dy.data()[each ? i : 0] * static_cast<T>(weight);
            const double target = own * weight_of(static_cast<std::size_t>(t));
            const Vec<T> m(pm[i]), l(pl[i]), whole(g * static_cast<T>(target + all));
            simd_map(
                width, row, [=](auto v) { return whole * portable::exp((v - m) - l); }, pz + i * width);
            row[t] -= g * static_cast<T>(target);
            if (smoothing > 0) {
                const Vec<T> wide(g);
                simd_map(
                    width, row, [wide](auto d, auto q) { return d - wide * q; }, row, shares.data());
            }
        });
        grads.add(0, std::move(dz));
    };
    return record("cross_entropy", y, inputs(logits), gradient, fast);
}

template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const Tensor<T>& targets, const CrossEntropyOptions& options) {
    check_defined("cross_entropy", logits, targets);
    check(logits.rank() > 0 && logits.shape() == targets.shape(),
          "cross_entropy: probabilities of the logits' shape are required, got {} and {}", targets.shape(),
          logits.shape());
    const std::size_t width = logits.dim(-1);
    const std::vector<double>& w = options.weight;
    check(w.empty() || w.size() == width, "cross_entropy: a weight for each of {} classes is required, got {}", width,
          w.size());
    Array<T> weight({width}, T{-1});
    for (std::size_t j = 0; j < w.size(); ++j) weight.data()[j] = static_cast<T>(-w[j]);
    const double smoothing = options.label_smoothing;
    const Tensor<T> smooth = affine(targets, 1 - smoothing, smoothing / static_cast<double>(width));
    const Tensor<T> y = sum(mul(mul(log_softmax(logits), smooth), Tensor<T>(weight)), -1);
    return options.reduction == Reduction::none ? y : options.reduction == Reduction::sum ? sum(y) : mean(y);
}

template <class T>
Tensor<T> nll_loss(const Tensor<T>& log_probabilities, const IdArray& targets, const CrossEntropyOptions& options) {
    check_defined("nll_loss", log_probabilities);
    const Shape& shape = log_probabilities.shape();
    check(targets.defined() && !shape.empty() && targets.shape() == Shape(shape.begin(), shape.end() - 1),
          "nll_loss: logarithms (..., V) and targets (...) are required, got {} and {}", shape,
          targets.defined() ? targets.shape() : Shape());
    check(options.weight.empty() || options.weight.size() == shape.back(),
          "nll_loss: a weight for each of {} classes is required, got {}", shape.back(), options.weight.size());
    IdArray ids = targets.clone();
    MaskArray ignored(targets.shape());
    Array<T> weights(targets.shape());
    double total = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::int32_t& t = ids.data()[i];
        ignored.data()[i] = t == options.ignore;
        if (t == options.ignore) t = 0;
        check(t >= 0 && static_cast<std::size_t>(t) < shape.back(),
              "nll_loss: targets must be at least 0 and below {}, or {}, got {}", shape.back(), options.ignore, t);
        const double w = options.weight.empty() ? 1.0 : options.weight[static_cast<std::size_t>(t)];
        weights.data()[i] = static_cast<T>(-w);
        if (!ignored.data()[i]) total += w;
    }
    Shape column = targets.shape();
    column.push_back(1);
    const Tensor<T> picked = reshape(gather(log_probabilities, -1, ids.reshaped(column)), targets.shape());
    const Tensor<T> y = masked_fill(mul(picked, Tensor<T>(weights)), ignored, 0);
    if (options.reduction == Reduction::mean) return scale(sum(y), total == 0 ? 0 : 1 / total);
    return options.reduction == Reduction::none ? y : sum(y);
}

#define INKLING_INSTANTIATE(T)                                                                        \
    template Tensor<T> cross_entropy(const Tensor<T>&, const IdArray&, std::int32_t);                 \
    template Tensor<T> cross_entropy(const Tensor<T>&, const IdArray&, const CrossEntropyOptions&);   \
    template Tensor<T> cross_entropy(const Tensor<T>&, const Tensor<T>&, const CrossEntropyOptions&); \
    template Tensor<T> nll_loss(const Tensor<T>&, const IdArray&, const CrossEntropyOptions&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling

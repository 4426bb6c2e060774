//   cross_entropy   y = mean_i (l_i - (z_i[t_i] - m_i)), m_i = max_j z_ij, l_i = ln sum_j e^(z_ij - m_i)
//                   dz_ij = dy (e^(z_ij - m_i - l_i) - [j = t_i]) / n
// A row with a NaN, with an infinite logit or without a finite one makes the loss NaN, and its gradient.
// The probabilities are not saved: backward recomputes them from the logits and two numbers per row. Class weights and
// label smoothing take the plain way, by log_softmax.
#include "engine/fused/cross_entropy.h"

#include <cmath>

#include "engine/array/rows.h"
#include "engine/autograd/op_gradients.h"
#include "engine/base/both_types.h"
#include "engine/kernels/lanes.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/softmax.h"

namespace inkling {
namespace {

void check_weight(const char* op, std::size_t classes, const CrossEntropyOptions& options) {
    check(options.weight.empty() || options.weight.size() == classes,
          "{}: expected a weight for each of {} classes, got {}", op, classes, options.weight.size());
    check(options.label_smoothing >= 0 && options.label_smoothing <= 1,
          "{}: expected label smoothing from 0 to 1, got {}", op, options.label_smoothing);
}

template <class T>
void check_options(const char* op, const Tensor<T>& x, const IdArray& targets, const CrossEntropyOptions& options) {
    check_defined(op, x);
    check(targets.defined(), "{}: expected targets, got an undefined array", op);
    check(x.rank() > 0 && x.dim(-1) > 0 && targets.shape() == Shape(x.shape().begin(), x.shape().end() - 1),
          "{}: expected logits (..., V) and targets (...), got {} and {}", op, x.shape(), targets.shape());
    const std::size_t width = x.dim(-1);
    check_weight(op, width, options);
    for (const std::int32_t t : targets) {
        check(t == options.ignore || (t >= 0 && static_cast<std::size_t>(t) < width),
              "{}: targets must be at least 0 and below {}, or {}, got {}", op, width, options.ignore, t);
    }
}

}  // namespace

template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets_any, const CrossEntropyOptions& options) {
    check_options("cross_entropy", logits, targets_any, options);
    const IdArray targets = targets_any.clone();  // the caller may write to its own before backward
    if (!options.weight.empty() || options.label_smoothing > 0) return plain::cross_entropy(logits, targets, options);
    const ConstArray<T> z = logits.value().contiguous();
    const std::size_t width = z.dim(-1), rows = targets.size();
    const auto ignored = [targets, ignore = options.ignore](std::size_t i) { return targets.data()[i] == ignore; };
    const auto target = [targets](std::size_t i) { return static_cast<std::size_t>(targets.data()[i]); };
    Array<T> maxima({rows}), log_sums({rows});
    T *const top = maxima.data(), *const log_sum = log_sums.data();
    each_row(rows, width, [&](std::size_t i) {
        if (ignored(i)) return;
        const T* const row = z.data() + i * width;
        top[i] = simd_max(width, row);
        log_sum[i] = portable::log(
            simd_sum(width, {row}, [m = Vec<T>(top[i])](auto sum, auto v) { return sum + portable::exp(v - m); }));
    });
    const bool each = options.reduction == Reduction::none;
    Array<T> y(each ? targets.shape() : Shape{}, T{0});
    double total = 0;  // in double and in order, so that the mean of many rows keeps its last digits
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        if (ignored(i)) continue;
        const T own = z.data()[i * width + target(i)] - top[i];
        const double loss = static_cast<double>(log_sum[i]) - static_cast<double>(own);
        if (each) y.data()[i] = static_cast<T>(loss);
        total += loss;
        ++count;
    }
    const double weight = options.reduction != Reduction::mean ? 1.0 : count > 0 ? 1.0 / static_cast<double>(count) : 0;
    if (!each) *y.data() = static_cast<T>(total * weight);
    auto gradient = [=, z = Saved(z)](const Tensor<T>& dy, Gradients<T>& grads) {
        grads.add_through(dy, [&] { return plain::cross_entropy(grads.in(0, *z), targets, options); });
    };
    auto fast = [=, z = Saved(z)](const Array<T>& dy_any, Gradients<T>& grads) {
        Array<T> dz(z->shape());
        T* const out = dz.data();
        const ConstArray<T> dy = dy_any.contiguous();
        const T *const pz = z->data(), *const pm = maxima.data(), *const pl = log_sums.data();
        each_row(rows, width, [&](std::size_t i) {
            T* const row = out + i * width;
            if (ignored(i)) {
                std::fill_n(row, width, T{0});
                return;
            }
            const T g = dy.data()[each ? i : 0] * static_cast<T>(weight);
            const Vec<T> m(pm[i]), l(pl[i]), wide(g);
            simd_map(width, row, {pz + i * width}, [=](auto v) { return wide * portable::exp((v - m) - l); });
            row[target(i)] -= g;
        });
        grads.add(0, std::move(dz));
    };
    return record("cross_entropy", y, inputs(logits), std::move(gradient), std::move(fast));
}

template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const Tensor<T>& targets, const CrossEntropyOptions& options) {
    check_defined("cross_entropy", logits, targets);
    check(logits.rank() > 0 && logits.shape() == targets.shape(),
          "cross_entropy: expected probabilities of the logits' shape, got {} and {}", targets.shape(), logits.shape());
    const std::size_t width = logits.dim(-1);
    check_weight("cross_entropy", width, options);
    const std::vector<double>& w = options.weight;
    Array<T> weight({width}, T{-1});
    for (std::size_t j = 0; j < w.size(); ++j) weight.data()[j] = static_cast<T>(-w[j]);
    const double smoothing = options.label_smoothing;
    const Tensor<T> smooth = affine(targets, 1 - smoothing, smoothing / static_cast<double>(width));
    const Tensor<T> y = sum(mul(mul(log_softmax(logits), smooth), Tensor<T>(weight)), -1);
    return options.reduction == Reduction::none ? y : options.reduction == Reduction::sum ? sum(y) : mean(y);
}

template <class T>
Tensor<T> nll_loss(const Tensor<T>& log_probabilities, const IdArray& targets, const CrossEntropyOptions& options) {
    check_options("nll_loss", log_probabilities, targets, options);
    return plain::nll_loss(log_probabilities, targets, options);
}

INKLING_BOTH_TYPES(nll_loss<T>);
template Tensor<float> cross_entropy(const Tensor<float>&, const IdArray&, const CrossEntropyOptions&);
template Tensor<double> cross_entropy(const Tensor<double>&, const IdArray&, const CrossEntropyOptions&);
template Tensor<float> cross_entropy(const Tensor<float>&, const Tensor<float>&, const CrossEntropyOptions&);
template Tensor<double> cross_entropy(const Tensor<double>&, const Tensor<double>&, const CrossEntropyOptions&);

}  // namespace inkling

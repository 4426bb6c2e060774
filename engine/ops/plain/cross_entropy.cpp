//   cross_entropy   y = mean_i -l_i[t_i], l = log_softmax(logits)      dlogits_ij = dy (e^l_ij - [j = t_i]) / n
// With class weights w and label smoothing s over V classes:
//                   y_i = -sum_j q_ij l_ij, q_ij = w_j ((1 - s) [j = t_i] + s / V); a mean divides by sum_i w[t_i]
// The gradients are those of log_softmax, the selection of t_i and the sum.
#include "engine/ops/plain/cross_entropy.h"

#include "engine/base/both_types.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/softmax.h"
#include "engine/ops/shape/select.h"
#include "engine/ops/shape/shape.h"

namespace inkling::plain {

namespace {

// l is log_probabilities(x) of the rows that count: what an ignored row holds does not matter.
template <class T, class F>
Tensor<T> loss_of(const Tensor<T>& x, const IdArray& targets, const CrossEntropyOptions& options,
                  const F& log_probabilities) {
    std::vector<std::int32_t> rows, classes;  // of the targets that count
    std::vector<T> weights;
    double total = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const std::int32_t t = targets.data()[i];
        if (t == options.ignore) continue;
        const double weight = options.weight.empty() ? 1.0 : options.weight[static_cast<std::size_t>(t)];
        rows.push_back(static_cast<std::int32_t>(i)), classes.push_back(t), weights.push_back(static_cast<T>(weight));
        total += weight;
    }
    const auto ids = [n = rows.size()](const std::vector<std::int32_t>& from, const Shape& shape) {
        IdArray to({n});
        std::copy(from.begin(), from.end(), to.data());
        return to.reshaped(shape);
    };
    const std::size_t n = rows.size(), V = x.dim(-1);
    const double smoothing = options.label_smoothing;
    const Tensor<T> l = log_probabilities(index_select(reshape(x, Shape{targets.size(), V}), 0, ids(rows, {n})));
    const Tensor<T> own = reshape(gather(l, 1, ids(classes, {n, 1})), Shape{n});
    Tensor<T> y = -own * Tensor<T>::from(weights, {n}) * (1 - smoothing);
    if (smoothing > 0) {
        const std::vector<T> given(options.weight.begin(), options.weight.end());
        const Tensor<T> class_weights = given.empty() ? Tensor<T>::ones({V}) : Tensor<T>::from(given, {V});
        y = y - sum(l * class_weights, 1) * (smoothing / static_cast<double>(V));
    }
    if (options.reduction == Reduction::sum) return sum(y);
    if (options.reduction == Reduction::mean) return sum(y) * (total != 0 ? 1 / total : 0.0);
    return reshape(scatter_add(Tensor<T>::zeros({targets.size()}), 0, ids(rows, {n}), y), targets.shape());
}

}  // namespace

template <class T>
Tensor<T> cross_entropy(const Tensor<T>& logits, const IdArray& targets, const CrossEntropyOptions& options) {
    return loss_of(logits, targets, options, [](const Tensor<T>& z) { return log_softmax(z); });
}

template <class T>
Tensor<T> nll_loss(const Tensor<T>& log_probabilities, const IdArray& targets, const CrossEntropyOptions& options) {
    return loss_of(log_probabilities, targets, options, [](const Tensor<T>& l) { return l; });
}

INKLING_BOTH_TYPES(cross_entropy<T>, nll_loss<T>);

}  // namespace inkling::plain

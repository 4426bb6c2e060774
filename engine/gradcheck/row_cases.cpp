// Reductions, and functions of rows: softmax, norms, losses over classes.
#include "engine/gradcheck/op_cases.h"
#include "engine/ops.h"

namespace inkling {
namespace {

// Returns a class for each row along x's last axis; the second row's is kIgnore.
template <class T>
IdArray some_targets(const Tensor<T>& x) {
    const Shape& shape = x.shape();
    if (shape.empty()) return IdArray(Shape{}, 0);
    IdArray targets = some_ids(Shape(shape.begin(), shape.end() - 1), shape.back());
    if (targets.size() > 1) targets.data()[1] = kIgnore;
    return targets;
}

template <class T>
void add_reductions(OpCases<T>& all) {
    using V = const Tensor<T>&;
    const std::vector<std::pair<std::string, Axes>> over = {{"", {}},    {" 0", {0}},      {" -1", {-1}},
                                                            {" 1", {1}}, {" 0 2", {0, 2}}, {" 0 1", {0, 1}}};
    for (const auto& named : over) {
        for (const bool keep : {false, true}) {
            const Axes axes = named.second;
            const std::string name = named.first + (keep ? " keep" : "");
            const std::string shapes = named.first.empty() ? "3x37 | () | 1 | 5 | 17 | 3x4 | 2x1x3 | 2x3x2x3 | 1x1"
                                       : axes.size() == 1
                                           ? "3x37 | 2x3x4 | 3x1x5" + std::string(axes[0] == 1 ? "" : " | ()")
                                           : "2x3x9 | 2x3x4 | 3x1x5";
            const CaseInputs any = shapes, extreme(shapes, Nan::gradients), positive(shapes, Domain::positive);
            all.add("sum" + name, any, [=](V x) { return sum(x, axes, keep); });
            all.add("mean" + name, any, [=](V x) { return mean(x, axes, keep); });
            all.add("max" + name, extreme, [=](V x) { return max(x, axes, keep); });
            all.add("min" + name, extreme, [=](V x) { return min(x, axes, keep); });
            all.add("prod" + name, positive, [=](V x) { return prod(x, axes, keep); });
            all.add("logsumexp" + name, any, [=](V x) { return logsumexp(x, axes, keep); });
        }
    }
    const auto add_spread = [&](const std::string& name, const std::string& shapes, const Axes& axes, bool keep,
                                double correction) {
        all.add("var" + name, shapes, [=](V x) { return var(x, axes, keep, correction); });
        all.add("std" + name, shapes, [=](V x) { return inkling::std(x, axes, keep, correction); });
    };
    add_spread("", "3x37 | 5 | 17 | 3x4 | 2x3x2x3", {}, false, 1);
    add_spread(" 0", "3x37 | 2x1x5", {0}, false, 1);
    add_spread(" 1", "3x37 | 3x5", {1}, false, 1);
    add_spread(" 1 correction 2", "3x37", {1}, false, 2);
    add_spread(" -1 keep correction 0", "3x37 | 5 | 3x4 | 3x6", {-1}, true, 0);
    add_spread(" 0 2", "3x2x5", {0, 2}, false, 1);
    add_spread(" 0 2 keep correction 0", "2x3x4", {0, 2}, true, 0);
    all.add("var of one number", {"1", Nan::products}, [](V x) { return var(x, {-1}, true, 0); });
    all.add("cumsum -1", "3x37 | () | 1 | 17 | 3x4 | 2x3x2x3", [](V x) { return cumsum(x, -1); });
    all.add("cumsum 0", "3x37 | 3x4 | 4x1x2", [](V x) { return cumsum(x, 0); });
    all.add("cumsum 1", "2x5x3", [](V x) { return cumsum(x, 1); });
}

template <class T>
void add_classes(OpCases<T>& all) {
    using V = const Tensor<T>&;
    const std::vector<double> weight{0.5, 2, 0, 1, 3};
    const auto loss = [&](const std::string& name, const std::string& shapes, const CrossEntropyOptions& options) {
        const auto f = [options](V x) { return cross_entropy(x, some_targets(x), options); };
        all.add("cross_entropy" + name, shapes, f);
    };
    const auto plain = [](V x) { return cross_entropy(x, some_targets(x)); };
    all.add("cross_entropy", "3x37 | 4 | 6x5 | 2x3x7 | 3x1 | 3x5", plain);
    loss(" weight", "4x5", {.weight = weight});
    loss(" smooth", "4x5 | 3x37", {.label_smoothing = 0.1});
    loss(" weight, smooth, none", "2x3x5", {.weight = weight, .reduction = Reduction::none, .label_smoothing = 0.3});
    loss(" weight, smooth, mean", "4x5", {.weight = weight, .label_smoothing = 0.3});
    loss(" sum", "4x5", {.reduction = Reduction::sum});
    loss(" sum, all smooth", "4x5", {.reduction = Reduction::sum, .label_smoothing = 1});
    loss(" none", "4x17", {.reduction = Reduction::none});
    all.add("cross_entropy of probabilities", "3x37 3x37 | 4x5 4x5 | 3 3",
            [](V x, V t) { return cross_entropy(x, t); });
    all.add("cross_entropy of probabilities, weight, smooth, sum", {"4x5 4x5 | 2x3x5 2x3x5", Nan::products},
            [weight](V x, V t) {
                return cross_entropy(x, t, {.weight = weight, .reduction = Reduction::sum, .label_smoothing = 0.3});
            });
    all.add("nll_loss", "3x37 | 4 | 6x5", [](V x) { return nll_loss(x, some_targets(x)); });
    all.add("nll_loss weight", "6x5", [weight](V x) { return nll_loss(x, some_targets(x), {.weight = weight}); });
    all.add("nll_loss weight, none", "6x5",
            [weight](V x) { return nll_loss(x, some_targets(x), {.weight = weight, .reduction = Reduction::none}); });
    loss(" smooth, none", "3x37", {.reduction = Reduction::none, .label_smoothing = 0.2});
}

}  // namespace

template <class T>
OpCases<T> row_cases() {
    using V = const Tensor<T>&;
    const std::string rows = "3x37 | () | 1 | 5 | 17 | 3x4 | 2x1x3 | 2x3x2x3";
    const auto masked = [](V x) { return softmax(masked_fill(x, causal_mask(x.dim(-2), x.dim(-1)), -1e30)); };
    OpCases<T> all;
    all.add("softmax", rows, [](V x) { return softmax(x); });
    all.add("softmax 0", "3x37 | 3x4 | 2x3x2", [](V x) { return softmax(x, 0); });
    all.add("softmax 1", "3x37 | 3x4 | 2x3x2", [](V x) { return softmax(x, 1); });
    all.add("softmax masked", {"3x37", Nan::products}, [](V x) { return softmax(x, some_mask(x.shape())); });
    all.add("masked_fill and softmax", {"4x4 | 2x4x4", Nan::products}, masked);
    all.add("log_softmax", rows, [](V x) { return log_softmax(x); });
    all.add("layer_norm", "3x37 37 37 | 5 5 5 | 2x3x4 4 4 | 37x3 3 3",
            [](V x, V gain, V bias) { return layer_norm(x, gain, bias); });
    all.add("layer_norm without bias", "3x5 5 | 2x2x2x5 5", [](V x, V gain) { return layer_norm(x, gain, {}); });
    all.add("layer_norm bare", "3x6", [](V x) { return layer_norm(x, {}, {}); });
    all.add("layer_norm bare, eps 0.1", "3x6", [](V x) { return layer_norm(x, {}, {}, 0.1); });
    all.add("rms_norm", "3x37 37 | 5 5 | 2x3x4 4 | 37x3 3", [](V x, V gain) { return rms_norm(x, gain); });
    all.add("rms_norm bare", "3x37 | 2x2x3x5", [](V x) { return rms_norm(x, {}); });
    add_reductions(all);
    add_classes(all);
    return all;
}

template OpCases<float> row_cases();
template OpCases<double> row_cases();

}  // namespace inkling

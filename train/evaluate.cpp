#include "train/evaluate.h"

#include <algorithm>
#include <limits>

#include "data/sampler.h"
#include "engine/base/float_mode.h"
#include "engine/base/interrupt.h"
#include "engine/fused/cross_entropy.h"
#include "engine/process/adaptive_threads.h"

namespace inkling::train {
namespace {

// While in scope: evaluation mode, and no graph.
class Evaluating {
  public:
    explicit Evaluating(models::Transformer<float>& model) : model_(model), training_(model.training()) {
        model.eval();
    }
    ~Evaluating() { model_.train(training_); }
    Evaluating(const Evaluating&) = delete;
    Evaluating& operator=(const Evaluating&) = delete;

  private:
    models::Transformer<float>& model_;
    bool training_;
    NoGrad no_grad_;
    StandardNumbers numbers_;
};

// The mean loss over batches of rows. fill(i, batch) makes the batch that begins with row i, moves i to the next one,
// and returns the batch's number of targets. Several processes take turns: each computes one of the next batches, then
// they exchange the losses, and all add them up in order.
template <class Fill>
double mean_loss(models::Transformer<float>& model, std::size_t rows, const EvaluateOptions& options,
                 const Fill& fill) {
    struct Told {
        double loss;
        bool stop;
    };
    const Evaluating scope(model);
    distributed::Processes& processes = options.processes;
    double total = 0;
    std::size_t predicted = 0;
    for (std::size_t i = 0; i < rows;) {
        Told own{0, false};
        std::vector<std::size_t> targets;  // of each batch of this turn
        while (i < rows && targets.size() < processes.count) {
            const double done = static_cast<double>(i) / static_cast<double>(rows);
            const auto must_stop = [&] { return options.progress && !options.progress(done); };
            own.stop = own.stop || must_stop();
            const bool is_own = targets.size() == processes.rank;
            data::Batch batch;
            targets.push_back(fill(i, batch));
            if (!is_own || own.stop) continue;
            const Interruptible during(must_stop);  // a batch may take minutes
            try {
                const AdaptiveThreads threads(Work::evaluation, static_cast<double>(batch.inputs.size()));
                own.loss = static_cast<double>(model.loss(batch.inputs, batch.targets, nullptr, batch.begins).item());
            } catch (const Interrupted&) {
                own.stop = true;
            }
        }
        const std::vector<Told> all = processes.gather_all(own);
        if (std::any_of(all.begin(), all.end(), [](const Told& told) { return told.stop; })) {
            if (options.stop_requested) *options.stop_requested = true;
            return std::numeric_limits<double>::quiet_NaN();
        }
        for (std::size_t k = 0; k < targets.size(); ++k) {
            total += all[k].loss * static_cast<double>(targets[k]);
            predicted += targets[k];
        }
    }
    if (options.counted) *options.counted = predicted;
    return total / static_cast<double>(predicted);
}

}  // namespace

double evaluate(models::Transformer<float>& model, data::TokenView tokens, const EvaluateOptions& options) {
    check<BadInput>(tokens.size() >= 2, "evaluate: expected a text of at least 2 tokens, got {}", tokens.size());
    const std::size_t T = options.length ? options.length : model.config.block_size, all = tokens.size() - 1;
    const std::size_t step = options.stride ? std::min(options.stride, T) : T;
    const std::size_t max_rows = std::max<std::size_t>(1, 4096 / T);
    // Window w counts the targets from starts_at(w) on: T in the first window, `step` in the others, the rest in the
    // last.
    const auto starts_at = [&](std::size_t w) { return w == 0 ? 0 : T + (w - 1) * step; };
    const auto counts = [&](std::size_t w) { return std::min(w == 0 ? T : step, all - starts_at(w)); };
    const auto length_of = [&](std::size_t w) { return w == 0 || !options.stride ? counts(w) : T; };
    const std::size_t windows = all <= T ? 1 : 1 + (all - T + step - 1) / step;
    const std::size_t wanted = options.max_tokens ? std::max<std::size_t>(1, options.max_tokens / step) : windows;
    const std::size_t chosen = std::min(wanted, windows);
    const auto window = [&](std::size_t i) { return i * windows / chosen; };
    return mean_loss(model, chosen, options, [&](std::size_t& i, data::Batch& batch) {
        const std::size_t fresh = counts(window(i)), length = length_of(window(i));
        std::size_t rows = 1;  // of equal size
        while (rows < max_rows && i + rows < chosen && counts(window(i + rows)) == fresh &&
               length_of(window(i + rows)) == length)
            ++rows;
        batch.inputs = IdArray({rows, length}), batch.targets = IdArray({rows, length}, kIgnore);
        for (std::size_t r = 0; r < rows; ++r, ++i) {
            const std::size_t at = starts_at(window(i));
            tokens.subspan(at + fresh - length, length).copy_to(batch.inputs.data() + r * length);
            tokens.subspan(at + 1, fresh).copy_to(batch.targets.data() + (r + 1) * length - fresh);
        }
        return rows * fresh;
    });
}

double evaluate(models::Transformer<float>& model, const data::PackedExamples& packed, const EvaluateOptions& options) {
    check<BadInput>(packed.size() > 0, "evaluate: expected documents with tokens to learn");
    const std::size_t T = packed.length(), all = packed.size();
    const std::size_t wanted = options.max_tokens ? std::max<std::size_t>(1, options.max_tokens / T) : all;
    const std::size_t chosen = std::min(wanted, all), at_once = std::max<std::size_t>(1, 4096 / T);
    return mean_loss(model, chosen, options, [&](std::size_t& i, data::Batch& batch) {
        const std::size_t rows = std::min(at_once, chosen - i);
        batch = {IdArray({rows, T}), IdArray({rows, T}), IdArray({rows, T})};
        std::size_t targets = 0;
        for (std::size_t r = 0; r < rows; ++r, ++i) {
            const std::size_t row = i * all / chosen, at = r * T;
            packed.fill(row, batch.inputs.data() + at, batch.targets.data() + at, batch.begins.data() + at);
            targets += packed.targets(row);
        }
        return targets;
    });
}

}  // namespace inkling::train

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

// Sums the batches' losses in order, each times its number of targets. Several processes take turns: each computes one
// of the next batches, then they exchange the losses and all add them up.
class SumOfLosses {
  public:
    explicit SumOfLosses(const EvaluateOptions& options) : options_(options), processes_(options.processes) {}

    // Asks progress(); returns false if the evaluation must end.
    bool goes_on(double done) {
        done_ = done;
        if (options_.progress && !stop_ && !options_.progress(done)) stop_ = true;
        return !stopped_;
    }

    void add(std::size_t targets, const std::function<double()>& loss) {
        predicted_ += targets;
        if (round_.size() == processes_.rank) own_ = computed(loss);
        round_.push_back(targets);
        if (round_.size() == processes_.count) tell();
    }

    double mean() {
        if (!round_.empty() && !stopped_) tell();
        if (options_.counted) *options_.counted = predicted_;
        return stopped_ ? std::numeric_limits<double>::quiet_NaN() : total_ / static_cast<double>(predicted_);
    }

  private:
    // The loss of a batch. Asks progress() during the batch too, because a batch may take minutes.
    double computed(const std::function<double()>& loss) {
        if (stop_) return 0;
        const Interruptible scope([&] { return options_.progress && !options_.progress(done_); });
        try {
            return loss();
        } catch (const Interrupted&) {
            stop_ = true;
            return 0;
        }
    }

    struct Told {
        double loss, stop;
    };

    void tell() {
        const std::vector<Told> all = processes_.gather_all(Told{own_, stop_ ? 1.0 : 0.0});
        for (std::size_t i = 0; i < round_.size(); ++i) total_ += all[i].loss * static_cast<double>(round_[i]);
        for (const Told& told : all) stopped_ = stopped_ || told.stop != 0;
        if (stopped_ && options_.stop_requested) *options_.stop_requested = true;
        round_.clear();
        own_ = 0;
    }

    const EvaluateOptions& options_;
    distributed::Processes& processes_;
    double total_ = 0, own_ = 0, done_ = 0;
    std::size_t predicted_ = 0;
    std::vector<std::size_t> round_;       // targets of the batches since the last exchange
    bool stop_ = false, stopped_ = false;  // this process must stop; all processes know it
};

// The mean loss over batches of rows. fill(i, batch) makes the batch that begins with row i, moves i to the next one,
// and returns the batch's number of targets.
template <class Fill>
double mean_loss(models::Transformer<float>& model, std::size_t rows, const EvaluateOptions& options,
                 const Fill& fill) {
    const Evaluating scope(model);
    SumOfLosses sum(options);
    for (std::size_t i = 0; i < rows;) {
        if (!sum.goes_on(static_cast<double>(i) / static_cast<double>(rows)))
            return std::numeric_limits<double>::quiet_NaN();
        data::Batch batch;
        const std::size_t targets = fill(i, batch);
        sum.add(targets, [&] {
            const AdaptiveThreads threads(Work::evaluation, static_cast<double>(batch.inputs.size()));
            return static_cast<double>(model.loss(batch.inputs, batch.targets, nullptr, batch.begins).item());
        });
    }
    return sum.mean();
}

}  // namespace

double evaluate(models::Transformer<float>& model, data::TokenView tokens, const EvaluateOptions& options) {
    check<BadInput>(tokens.size() >= 2, "evaluate: a text of at least 2 tokens is required, got {}", tokens.size());
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
    check<BadInput>(packed.size() > 0, "evaluate: documents with something to learn are required");
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

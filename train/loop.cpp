#include "train/loop.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/clock.h"
#include "engine/base/parallel.h"
#include "engine/process/adaptive_threads.h"
#include "train/evaluate.h"
#include "train/settings/settings.h"

namespace inkling::train {
namespace {

// Bits per byte of text at a loss of 1 nat per token. The first token is not predicted.
double bits_per_byte_of(data::TokenView tokens, const data::Tokenizer& tokenizer) {
    const data::TokenView predicted = tokens.subspan(1);
    const auto bytes = chunked_sum<std::size_t>(predicted.size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
        return tokenizer.decode_more(predicted.subspan(begin, end - begin).copy()).size();
    });
    return static_cast<double>(predicted.size()) / static_cast<double>(bytes) / std::numbers::ln2;
}

}  // namespace

TrainingLoop::TrainingLoop(const TrainOptions& options, models::Transformer<float>& model, const data::Dataset& dataset,
                           const data::Tokenizer* tokenizer, distributed::Processes& processes)
    : options_(options),
      model_(model),
      dataset_(dataset),
      text_(data::split_tokens(dataset.ids, options.val_fraction)),
      save_at_(options.steps_to_save()) {
    if (dataset.has_examples()) {
        split_examples();
        sampler_ = std::make_unique<data::ExampleSampler>(*train_rows_, options.rows_per_shard(), options.seed);
    } else {
        sampler_ = data::make_sampler(options.sampler, text_.train, options.rows_per_shard(), options.block_size,
                                      options.seed, tokenizer);
        check<BadInput>(text_.val.size() != 1,
                        "the validation part has 1 token and needs 2: raise --val-fraction or add text");
        const bool has_text = tokenizer && tokenizer->kind() != data::TokenizerKind::ids;
        if (has_text && !text_.val.empty()) bits_per_byte_ = bits_per_byte_of(text_.val, *tokenizer);
    }
    step_ = std::make_unique<TrainingStep>(options_, model, *sampler_, processes);
    state_.data_fingerprint = dataset.fingerprint;
    state_.base_fingerprint = base_fingerprint(model);
    state_.teacher_fingerprint = step_->teachers.fingerprint();
    state_.config = to_toml(options_);
}

void TrainingLoop::split_examples() {
    const std::size_t n = dataset_.ends.size();
    const auto trained = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::floor(static_cast<double>(n) * (1 - options_.val_fraction))));
    const auto rows = [&](std::size_t first, std::size_t last) {
        return std::make_unique<data::PackedExamples>(dataset_, first, last, options_.block_size);
    };
    train_rows_ = rows(0, trained);
    auto rest = rows(trained, n);
    if (rest->size() > 0) val_rows_ = std::move(rest);
    const std::size_t end = dataset_.ends[trained - 1];
    text_ = {dataset_.ids.first(end), val_rows_ ? dataset_.ids.subspan(end) : data::TokenView()};
}

void TrainingLoop::go_on_from(const TrainingState& state) {
    const std::string text = state_.data_fingerprint, config = state_.config, base = state_.base_fingerprint,
                      teachers = state_.teacher_fingerprint;
    state_ = state;
    state_.data_fingerprint = text;  // --force may have changed it
    state_.config = config;
    state_.base_fingerprint = base;
    state_.teacher_fingerprint = teachers;
    step_->spikes = state.spikes;
    saved_step_ = state_.step;
}

void TrainingLoop::replan(std::size_t max_iters, std::size_t planned) {
    std::erase_if(options_.plan.changes, [&](const RunPlan::Change& change) { return change.step >= state_.step; });
    options_.plan.changes.push_back({state_.step, planned});
    options_.max_iters = max_iters;
    state_.config = to_toml(options_);
}

StopReason TrainingLoop::stop_reason() const {
    const bool timed = options_.max_time > 0;
    if (state_.step >= options_.max_iters)  // a plan that the clock made is done when the time is up
        return timed && options_.plan.adjustable ? StopReason::max_time : StopReason::max_iters;
    if (timed && seconds_used() >= options_.max_time) return StopReason::max_time;
    const std::size_t patience = options_.patience * options_.eval_every;
    if (patience > 0 && has_best() && state_.step >= state_.best_step + patience) return StopReason::patience;
    return asked_to_stop_ ? StopReason::interrupted : StopReason::none;
}

bool TrainingLoop::has_best() const {
    return std::isfinite(state_.best_val_loss) && (state_.best_step > 0 || options_.eval_on_start);
}

bool TrainingLoop::log_due() const {
    return due(options_.log_every) || state_.step == 1 || finished() || metrics_.val_loss || checkpoint_due_;
}

double TrainingLoop::tokens_per_step() const { return static_cast<double>(options_.tokens_per_step()); }

std::size_t TrainingLoop::eval_tokens() const {
    const std::size_t all = text_.val.size(), some = options_.eval_iters * options_.batch_size * options_.block_size;
    return some == 0 || some >= all ? all : some;
}

double TrainingLoop::seconds_left() const {
    const auto done = static_cast<double>(state_.step);
    double steps = static_cast<double>(options_.max_iters) - done;
    if (options_.max_time > 0) steps = std::min(steps, (options_.max_time - seconds_used()) * done / state_.elapsed_s);
    return steps * state_.elapsed_s / done;
}

double TrainingLoop::run_step() {
    const AdaptiveThreads threads(Work::step);
    static_cast<StepResult&>(metrics_) = step_->run(state_.step);
    ++state_.step;
    state_.train_s += metrics_.seconds;
    const double speed = tokens_per_step() / metrics_.seconds;
    metrics_.tok_s = metrics_.tok_s > 0 ? 0.95 * metrics_.tok_s + 0.05 * speed : speed;
    metrics_.step = state_.step;
    metrics_.train_s = state_.train_s;
    metrics_.val_loss.reset();
    metrics_.bits_per_byte.reset();
    state_.val_loss = std::numeric_limits<double>::infinity();
    refused_in_a_row_ = std::isfinite(metrics_.grad_norm) ? 0 : refused_in_a_row_ + 1;
    return metrics_.loss;
}

void TrainingLoop::run(const std::vector<Callback*>& callbacks, const std::function<bool()>& stop) {
    constexpr std::size_t kMaxRefused = 5;  // in a row
    constexpr double kSpike = 6;            // standard deviations that are reported
    const auto tell = [&](void (Callback::*event)(TrainingLoop&)) {
        for (Callback* const callback : callbacks) (callback->*event)(*this);
    };
    const auto save = [&] {
        saved_step_ = state_.step;
        state_.spikes = step_->spikes;
        step_->save_optimizer([&](Optimizer<float>& whole) {
            whole_optimizer_ = &whole;
            tell(&Callback::checkpoint_wanted);
        });
    };
    // With several processes, one may be asked to stop before the others: each step tells all of them.
    const bool alone = step_->processes().count == 1;
    step_->asked_to_stop = stop;
    const auto interrupted = [&] {
        return asked_to_stop_ = asked_to_stop_ || step_->stop_requested || (alone && stop && stop());
    };
    const double start = seconds_now() - state_.elapsed_s;
    outside_s_ = state_.elapsed_s - state_.train_s;
    asked_to_stop_ = step_->stop_requested = false;
    model_.train();
    const auto is_best = [&] {
        const bool best = state_.val_loss < state_.best_val_loss;
        if (best) state_.best_val_loss = state_.val_loss, state_.best_step = state_.step;
        return best;
    };
    const bool begins = state_.step == 0 && !std::isfinite(state_.best_val_loss);
    if (options_.eval_on_start && begins && !finished() && !text_.val.empty() && !interrupted()) {
        evaluate_now(callbacks, stop);
        state_.elapsed_s = metrics_.elapsed_s = seconds_now() - start;
        checkpoint_due_ = is_best();
        if (metrics_.val_loss) tell(&Callback::evaluated);
        if (checkpoint_due_) save();
    }
    if (state_.step == 0) count_pause(seconds_now() - start);
    while (!finished() && !interrupted()) {
        run_step();
        if (refused_in_a_row_ > 0) {
            anomaly_ = step_->find_anomaly(state_.step - 1);
            tell(&Callback::step_refused);
        } else if (metrics_.z.largest() > (options_.skip_spikes > 0 ? options_.skip_spikes : kSpike)) {
            tell(&Callback::spike);
        }
        if (refused_in_a_row_ == kMaxRefused) {
            throw Diverged(fmt::format(
                "training diverged: {} steps in a row were not finite, the last one step {}: {}: lower --learning-rate",
                kMaxRefused, state_.step, anomaly_));
        }
        bool last = finished();
        if (!text_.val.empty() && (last || due(options_.eval_every)) && !interrupted()) evaluate_now(callbacks, stop);
        const bool best = is_best();
        last = finished();
        state_.elapsed_s = metrics_.elapsed_s = seconds_now() - start;
        checkpoint_due_ = best || last || due(options_.save_every ? options_.save_every : options_.eval_every) ||
                          std::ranges::count(save_at_, state_.step) > 0;
        tell(&Callback::step_done);
        if (metrics_.val_loss) tell(&Callback::evaluated);
        if (checkpoint_due_) save();
        if (!last && due(options_.sample_every) && !interrupted()) tell(&Callback::sample_wanted);
        if (metrics_.val_loss || checkpoint_due_ || due(options_.sample_every)) count_pause(seconds_now() - start);
        if (!last) check_plan(callbacks);
    }
    if (saved_step_ != state_.step) save();  // interrupted between two checkpoints
    tell(&Callback::stopped);
}

void TrainingLoop::evaluate_now(const std::vector<Callback*>& callbacks, const std::function<bool()>& stop) {
    // A model that saw paragraphs only from their beginning is evaluated on windows that overlap by half, so that it
    // sees much of each paragraph.
    const bool overlapping = options_.sampler == data::SamplerKind::paragraphs;
    EvaluateOptions how{.processes = step_->processes()};
    how.length = options_.block_size;
    how.stop_requested = &step_->stop_requested;
    how.stride = overlapping ? std::max<std::size_t>(1, options_.block_size / 2) : 0;
    how.progress = [&](double done) {
        for (Callback* const callback : callbacks) callback->evaluating(*this, done);
        return !(stop && stop());
    };
    const WithPrecision scope(options_.precision);
    const Averaged weights(step_->average);
    how.max_tokens = eval_tokens() == text_.val.size() ? 0 : eval_tokens();
    how.counted = &metrics_.val_tokens;
    const double loss = val_rows_ ? evaluate(model_, *val_rows_, how) : evaluate(model_, text_.val, how);
    if (!std::isfinite(loss)) return;
    metrics_.val_loss = state_.val_loss = loss;
    if (std::isfinite(bits_per_byte_)) metrics_.bits_per_byte = bits_per_byte(loss);
}

// The clock of the first process counts.
void TrainingLoop::count_pause(double elapsed_s) {
    const double outside = step_->processes().of_first(elapsed_s - state_.train_s);
    longest_pause_ = std::max(longest_pause_, outside - outside_s_);
    outside_s_ = outside;
}

void TrainingLoop::check_plan(const std::vector<Callback*>& callbacks) {
    const RunPlan& plan = options_.plan;
    if (!plan.adjustable || options_.max_time <= 0) return;
    if (!plan.changes.empty() && plan.changes.back().step >= state_.step) return;  // repeating earlier steps
    const std::size_t steps = time_plan_.steps(state_.step, state_.train_s + outside_s_,
                                               options_.max_time - longest_pause_, options_.max_iters);
    if (steps == options_.max_iters) return;
    replan(steps, options_.max_iters);
    for (Callback* const callback : callbacks) callback->replanned(*this);
}

}  // namespace inkling::train

#include "train/loop.h"

#include <cmath>

#include "engine/clock.h"
#include "train/evaluate.h"

namespace inkling::train {

TrainingLoop::TrainingLoop(const TrainOptions& options, models::Transformer<float>& model,
                           std::span<const std::int32_t> tokens, const data::Tokenizer* tokenizer,
                           CombineGradients combine)
    : options_(options), model_(model), text_(data::split_tokens(tokens, options.val_fraction)) {
    sampler_ = data::make_sampler(options.sampler, text_.train, options.batch_size, options.block_size, options.seed,
                                  tokenizer);
    check<BadInput>(text_.val.size() != 1,
                    "the validation part has 1 token and needs 2: raise --val-fraction or add text");
    if (options.eval_iters > 0 && !text_.val.empty())  // throws when it is too short
        data::make_sampler(data::SamplerKind::random, text_.val, options.batch_size, options.block_size, 0);
    step_ = std::make_unique<TrainingStep>(options, model, *sampler_, std::move(combine));
    state_.data_fingerprint = fingerprint(tokens);
    state_.config = to_toml(options);
}

void TrainingLoop::go_on_from(const TrainingState& state) {
    const std::string config = state_.config;
    state_ = state;
    state_.config = config;
    saved_step_ = state_.step;
}

bool TrainingLoop::finished() const {
    return state_.step >= options_.max_iters || (options_.max_time > 0 && state_.train_s >= options_.max_time);
}

bool TrainingLoop::log_due() const {
    return due(options_.log_every) || state_.step == 1 || finished() || metrics_.val_loss;
}

double TrainingLoop::run_step() {
    const double start = seconds_now();
    const StepResult result = step_->run(state_.step);
    ++state_.step;
    const double seconds = seconds_now() - start;
    state_.train_s += seconds;
    const double tokens =
        static_cast<double>(options_.batch_size * options_.block_size * options_.gradient_accumulation_steps);
    const double speed = tokens / seconds;
    metrics_.tok_s = metrics_.tok_s > 0 ? 0.95 * metrics_.tok_s + 0.05 * speed : speed;
    metrics_.step = state_.step;
    metrics_.loss = result.loss;
    metrics_.lr = result.learning_rate;
    metrics_.grad_norm = result.grad_norm;
    metrics_.train_s = state_.train_s;
    metrics_.val_loss.reset();
    state_.val_loss = std::numeric_limits<double>::infinity();
    refused_in_a_row_ = std::isfinite(result.grad_norm) ? 0 : refused_in_a_row_ + 1;
    return result.loss;
}

void TrainingLoop::run(const std::vector<Observer*>& observers, const std::function<bool()>& stop) {
    constexpr std::size_t kMaxRefused = 5;  // in a row
    const auto tell = [&](void (Observer::*event)(TrainingLoop&)) {
        for (Observer* const observer : observers) (observer->*event)(*this);
    };
    const auto save = [&] {
        saved_step_ = state_.step;
        tell(&Observer::checkpoint_wanted);
    };
    const auto interrupted = [&] { return stop && stop(); };
    const double start = seconds_now() - state_.elapsed_s;
    model_.train();
    while (!finished() && !interrupted()) {
        run_step();
        if (refused_in_a_row_ > 0) tell(&Observer::step_refused);
        if (refused_in_a_row_ == kMaxRefused) {
            throw Diverged(fmt::format(
                "training diverged: {} steps in a row were not finite, the last one step {}: lower --learning-rate",
                kMaxRefused, state_.step));
        }
        const bool last = finished();
        if (!text_.val.empty() && (last || due(options_.eval_every)) && !interrupted()) evaluate_now(stop);
        state_.elapsed_s = metrics_.elapsed_s = seconds_now() - start;
        tell(&Observer::step_done);
        if (metrics_.val_loss) tell(&Observer::evaluated);
        const bool best = metrics_.val_loss && *metrics_.val_loss < state_.best_val_loss;
        if (best) state_.best_val_loss = *metrics_.val_loss;
        if (best || last || due(options_.save_every ? options_.save_every : options_.eval_every)) save();
        if (!last && due(options_.sample_every) && !interrupted()) tell(&Observer::sample_wanted);
    }
    if (saved_step_ != state_.step) save();  // interrupted between two checkpoints
    tell(&Observer::stopped);
}

void TrainingLoop::evaluate_now(const std::function<bool()>& stop) {
    // A model that has only seen paragraphs from their beginning is asked about those that it sees much of.
    const bool overlapping = options_.sampler == data::SamplerKind::paragraphs;
    const std::size_t stride = overlapping ? std::max<std::size_t>(1, options_.block_size / 2) : 0;
    const WithPrecision scope(options_.precision);
    const Averaged weights(step_->average);
    const double loss = options_.eval_iters > 0
                            ? evaluate_sample(model_, text_.val, options_.eval_iters, options_.batch_size)
                            : evaluate(model_, text_.val, stop, stride);
    if (std::isfinite(loss)) metrics_.val_loss = last_val_loss_ = state_.val_loss = loss;
}

}  // namespace inkling::train

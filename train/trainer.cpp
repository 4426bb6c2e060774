#include "train/trainer.h"

#include <fmt/ranges.h>

#include <cmath>

#include "data/split.h"
#include "engine/backward.h"
#include "engine/clock.h"
#include "engine/ops/elementwise.h"
#include "engine/precision.h"
#include "formats/file.h"
#include "generate/writer.h"
#include "train/evaluate.h"

namespace inkling::train {
namespace {

constexpr std::size_t kMostRefused = 5;

}  // namespace

Trainer::Trainer(const TrainOptions& options, models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                 std::span<const std::int32_t> tokens, Report& report)
    : options_(options),
      model_(model),
      tokenizer_(tokenizer),
      report_(report),
      parameters_(model),
      optimizer_(make_optimizer(options, parameters_)),
      average_(parameters_, options.ema),
      schedule_{options.schedule,
                options.learning_rate,
                options.min_lr,
                options.warmup_iters,
                options.lr_decay_iters ? options.lr_decay_iters : options.max_iters,
                options.decay_fraction} {
    model_.checkpoint_activations = options.checkpoint_activations;
    const data::Split split = data::split_tokens(tokens, options.val_fraction);
    train_ = split.train;
    val_ = split.val;
    sampler_ =
        data::make_sampler(options.sampler, train_, options.batch_size, options.block_size, options.seed, &tokenizer);
    check<BadInput>(val_.size() != 1, "the validation part has 1 token and needs 2: raise --val-fraction or add text");
    if (options.eval_iters > 0 && !val_.empty()) {
        data::make_sampler("random", val_, options.batch_size, options.block_size, 0);  // throws when it is too short
    }
    state_.data_fingerprint = fingerprint(tokens);
    state_.config = to_toml(options);
}

void Trainer::resume(const std::filesystem::path& checkpoint, bool force) {
    const TrainingState loaded = load_state(checkpoint, parameters_, *optimizer_, average_);
    std::vector<std::string> changes = changed_settings(loaded.config, state_.config);
    if (loaded.data_fingerprint != state_.data_fingerprint)
        changes.insert(changes.begin(), fmt::format("it was trained on another text, {} tokens and hash, not {}",
                                                    loaded.data_fingerprint, state_.data_fingerprint));
    if (!changes.empty()) {
        const std::string what = fmt::format("{}: {}", checkpoint.string(), fmt::join(changes, "; "));
        if (!force) throw Mismatch(what + ": undo that, or go on all the same with --force");
        report_.warn(what);
    }
    const std::string config = state_.config;
    state_ = loaded;
    state_.config = config;
    saved_step_ = state_.step;
}

double Trainer::step() {
    const double start = seconds_now();
    const WithPrecision scope(precision_named(options_.precision));
    Generator random{options_.seed, (state_.step + 1) << 20};  // dropout masks follow from the step alone
    parameters_.zero_gradients();
    double loss = 0;
    const std::size_t micro_steps = options_.gradient_accumulation_steps;
    for (std::size_t i = 0; i < micro_steps; ++i) {
        sampler_->fill(state_.step * micro_steps + i, batch_);
        profile::lap("batch");
        const Tensor<float> y = model_.loss(id_array(batch_.inputs, batch_.batch, batch_.length),
                                            id_array(batch_.targets, batch_.batch, batch_.length), &random);
        const double part = static_cast<double>(y.item());
        loss += part / static_cast<double>(micro_steps);
        if (!std::isfinite(part)) break;
        backward(micro_steps == 1 ? y : scale(y, 1.0 / static_cast<double>(micro_steps)));
    }
    profile::lap("loss");
    const double norm = std::isfinite(loss) ? gradient_norm(parameters_.gradients()) : loss;
    profile::lap("gradient norm");
    metrics_.lr = schedule_.at(state_.step);
    if (std::isfinite(norm)) {
        optimizer_->step(metrics_.lr, clip_scale(norm, options_.grad_clip));
        average_.update(optimizer_->updates);
        profile::lap(optimizer_->name());
        refused_in_a_row_ = 0;
    } else {
        ++refused_in_a_row_;
    }
    ++state_.step;
    const double seconds = seconds_now() - start;
    state_.train_s += seconds;
    const double tokens = static_cast<double>(options_.batch_size * options_.block_size * micro_steps);
    const double speed = tokens / seconds;
    metrics_.tok_s = metrics_.tok_s > 0 ? 0.95 * metrics_.tok_s + 0.05 * speed : speed;
    metrics_.step = state_.step;
    metrics_.loss = loss;
    metrics_.grad_norm = norm;
    metrics_.train_s = state_.train_s;
    metrics_.val_loss.reset();
    state_.val_loss = std::numeric_limits<double>::infinity();
    return loss;
}

void Trainer::run(RunFolder* folder, const std::atomic<int>* stop) {
    folder_ = folder;
    const double start = seconds_now() - state_.elapsed_s;
    if (folder_) {
        formats::write_file_atomic(folder_->path() / "config.toml", state_.config);
        metrics_file_ = std::make_unique<MetricsFile>(folder_->path() / "metrics.jsonl", state_.step);
    }
    model_.train();
    const auto out_of_time = [&] { return options_.max_time > 0 && state_.train_s >= options_.max_time; };
    const auto interrupted = [&] { return stop && stop->load() != 0; };
    bool last = state_.step >= options_.max_iters || out_of_time();
    if (last) report_.note(fmt::format("nothing to do: step {} of {} is reached", state_.step, options_.max_iters));
    while (!last && !interrupted()) {
        const bool first = state_.step == 0;
        const double loss = step();
        if (first && options_.init_from.empty()) check_first_loss(loss);
        if (!std::isfinite(metrics_.grad_norm)) refuse_step(loss, metrics_.grad_norm);
        last = state_.step >= options_.max_iters || out_of_time();
        const bool evaluated = !val_.empty() && (last || due(options_.eval_every)) && !interrupted();
        if (evaluated) evaluate_now(stop);
        state_.elapsed_s = metrics_.elapsed_s = seconds_now() - start;
        if (due(options_.log_every) || first || last || metrics_.val_loss) {
            if (metrics_file_ && std::isfinite(metrics_.grad_norm)) metrics_file_->write(metrics_);
            if (metrics_.val_loss) {
                report_.evaluation(metrics_, options_.max_iters);
            } else {
                const double per_step = state_.train_s / static_cast<double>(state_.step);
                double eta = per_step * static_cast<double>(options_.max_iters - state_.step);
                if (options_.max_time > 0) eta = std::min(eta, options_.max_time - state_.train_s);
                report_.progress(metrics_, options_.max_iters, eta);
            }
        }
        const bool best = metrics_.val_loss && *metrics_.val_loss < state_.best_val_loss;
        if (best) state_.best_val_loss = *metrics_.val_loss;
        if (best || last || due(options_.save_every ? options_.save_every : options_.eval_every)) save();
        if (!last && due(options_.sample_every) && !interrupted()) report_.sample(sample_text());
    }
    if (saved_step_ != state_.step) save();  // interrupted between two checkpoints
}

void Trainer::evaluate_now(const std::atomic<int>* stop) {
    // A model that has only seen paragraphs from their beginning is asked about those that it sees much of.
    const std::size_t stride = options_.sampler == "paragraphs" ? std::max<std::size_t>(1, options_.block_size / 2) : 0;
    const WithPrecision scope(precision_named(options_.precision));
    const Averaged weights(average_);
    const double loss = options_.eval_iters > 0
                            ? evaluate_sample(model_, val_, options_.eval_iters, options_.batch_size)
                            : evaluate(
                                  model_, val_, [stop] { return stop && stop->load() != 0; }, stride);
    if (std::isfinite(loss)) metrics_.val_loss = last_val_loss_ = state_.val_loss = loss;
}

void Trainer::save() {
    saved_step_ = state_.step;
    if (!folder_) return;
    const Averaged weights(average_);
    folder_->save(state_.step, [&](const std::filesystem::path& folder) {
        save_checkpoint(folder, model_, tokenizer_, parameters_, *optimizer_, average_, state_);
    });
}

void Trainer::check_first_loss(double loss) {
    const double expected = std::log(static_cast<double>(model_.config.vocab_size));
    if (std::abs(loss - expected) > 0.05 * expected + 0.05) {
        report_.warn(
            fmt::format("the first loss is {:.3f}, far from ln(vocabulary) = {:.3f}: initial weights or data are off",
                        loss, expected));
    }
}

void Trainer::refuse_step(double loss, double norm) {
    report_.warn(
        fmt::format("step {}: loss {} and gradient norm {} are not finite at learning rate {:g}: the step is skipped",
                    state_.step, loss, norm, metrics_.lr));
    if (refused_in_a_row_ < kMostRefused) return;
    throw Diverged(
        fmt::format("training diverged: {} steps in a row were not finite, the last one step {}: lower --learning-rate",
                    kMostRefused, state_.step));
}

std::string Trainer::sample_text() {
    const Averaged weights(average_);
    model_.eval();
    generate::GenerateOptions options;
    options.max_tokens = 200;
    options.seed = options_.seed;
    generate::Writer text(model_, &tokenizer_, options);
    const std::int32_t first = val_.empty() ? train_[0] : val_[0];
    const std::int32_t begin = model_.config.has_bos ? tokenizer_.end_of_text().value_or(first) : first;
    text.add(std::span(&begin, 1));
    model_.train();
    return text.write();
}

}  // namespace inkling::train

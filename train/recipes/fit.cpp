#include "train/recipes/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/portable_math.h"
#include "engine/memory/buffer_pool.h"
#include "train/recipes/estimate.h"
#include "train/recipes/speed.h"

namespace inkling::train {
namespace {

// Heads are 64 wide, 32 in the smallest shapes.
struct ModelShape {
    std::size_t n_layer, n_embd, n_head, block_size;
    double parameters() const {  // in the matrices of the blocks
        return 12.0 * static_cast<double>(n_layer) * static_cast<double>(n_embd) * static_cast<double>(n_embd);
    }
};
constexpr ModelShape kShapes[] =  // by size
    {{2, 32, 1, 64},   {3, 64, 2, 64},   {4, 96, 3, 128},  {4, 128, 2, 128},  {6, 192, 3, 256},
     {6, 256, 4, 256}, {8, 320, 5, 256}, {8, 384, 6, 256}, {10, 512, 8, 256}, {12, 768, 12, 512}};

constexpr double kEfficiency = 0.4;        // speed of a step, relative to products alone
constexpr double kTokensPerParameter = 2;  // tokens seen per parameter that give the lowest loss in a given time
// More repetitions, or a larger model, overfit. A text that is seen more than 6 times needs dropout and more weight
// decay. From 9 times on it needs more dropout, and all of the model's weights decay, less below 30 times.
constexpr double kMaxParametersPerToken = 9;
constexpr double kEpochsWithoutDropout = 6, kEpochsWithLittleDropout = 9, kEpochsWithMostDecay = 30;
constexpr double kMaxEpochs = 60, kMinSteps = 400;  // of the text at most; for even the shortest text
// The same for an existing model: of a text, and of answers; a run may stop earlier.
constexpr double kTunedMaxEpochs = 10, kAnswersMaxEpochs = 60, kTunedMinSteps = 60;
constexpr double kAdapterRate = 1e-3;
// A run that repeats its text has 40 evaluations, and stops after this many without improvement.
constexpr std::size_t kPatience = 16;
// The share of the time for steps; evaluations, samples and checkpoints take the rest.
constexpr double kStepsTime = 0.875;
// Tokens per evaluation, relative to the tokens trained on between two evaluations: 10% of the time.
constexpr double kEvalPart = 0.3;
// Tokens per step grow with the tokens seen, by nanochat's exponent.
constexpr double kBatch = 2048, kBatchSeen = 4.5e6, kBatchExponent = 0.383;

constexpr double kPairs = 1024, kPairsText = 1e6, kPairsExponent = 0.6;

double power_of_two(double x, double low, double high) {
    return std::clamp(portable::exp2(std::round(portable::log2(std::max(x, 1.0)))), low, high);
}

std::size_t heads_for(std::size_t width) {  // the largest number of heads with at least 32 columns, an even number each
    for (std::size_t heads = std::max<std::size_t>(1, width / 32); heads > 1; --heads)
        if (width % heads == 0 && width / heads % 2 == 0) return heads;
    return 1;
}

}  // namespace

void fit_given(Config& c) {
    TrainOptions& o = c.options;
    if (c.is_given("n-embd") && !c.is_given("n-head")) o.n_head = heads_for(o.n_embd);
    const bool shared = c.is_given("n-kv-head") && !c.is_given("n-head") && o.n_kv_head > 0;
    if (shared) o.n_head = std::lcm(o.n_head, o.n_kv_head);
    if ((c.is_given("n-head") || shared) && !c.is_given("n-embd") &&
        o.n_head > 0)  // an even number of columns per head
        o.n_embd = std::max<std::size_t>(1, (o.n_embd / o.n_head + 1) / 2) * 2 * o.n_head;
    if (c.is_given("max-iters") || c.is_given("max-flops")) c.choose("max-time", o.max_time, 0);
    c.choose("batch-size", o.batch_size, whole_parts(static_cast<double>(o.batch_size), o.shards));
    if (o.lora_rank > 0) {  // two thin factors, commonly trained with AdamW
        c.choose("optimizer", o.optimizer, OptimizerKind::adamw);
        if (o.optimizer == OptimizerKind::adamw) c.choose("learning-rate", o.learning_rate, kAdapterRate);
        c.choose("weight-decay", o.weight_decay, 0);
    } else if (o.optimizer != OptimizerKind::muon)
        c.choose("learning-rate", o.learning_rate, o.optimizer == OptimizerKind::adamw ? 3e-3 : 0.1);
    if (o.optimizer != OptimizerKind::muon || o.learning_rate == 0) {
        c.choose("embedding-lr", o.embedding_lr, 0);
        c.choose("head-lr", o.head_lr, 0);
    }
}

double Budget::flops() const { return operations > 0 ? operations : seconds * gflops * 1e9 * kEfficiency; }

void fit_tokenizer(std::size_t bytes, Config& c) {
    TrainOptions& o = c.options;
    if (c.fits != Fits::shape || !o.init_from.empty() || c.is_given("tokenizer") || o.tokenizer == "ids") return;
    const bool pairs = c.is_given("vocab-size") || (bytes > kShortText && !c.is_given("byte-fallback"));
    o.tokenizer = name_of(pairs ? data::TokenizerKind::byte_pairs : data::TokenizerKind::characters);
    if (pairs && !c.is_given("vocab-size"))
        o.vocab_size = static_cast<std::size_t>(
            power_of_two(kPairs * portable::pow(static_cast<double>(bytes) / kPairsText, kPairsExponent), 512, 8192));
}

std::size_t whole_parts(double rows, std::size_t shards) {
    const std::size_t whole = static_cast<std::size_t>(std::max(1.0, rows)), parts = std::max<std::size_t>(1, shards);
    return (whole + parts - 1) / parts * parts;
}

void fit(const Budget& budget, Config& c) {
    TrainOptions& o = c.options;
    const double flops = budget.flops();
    const auto train_tokens = static_cast<double>(budget.tokens) * (1 - o.val_fraction);
    if (c.fits == Fits::shape && o.init_from.empty()) {
        // A token takes 6 operations per parameter of blocks and head.
        const auto fits = [&](const ModelShape& s) {
            const double blocks = s.parameters(), head = static_cast<double>(budget.vocabulary * s.n_embd);
            return kTokensPerParameter * blocks * 6 * (blocks + head) <= flops &&
                   blocks <= kMaxParametersPerToken * train_tokens;
        };
        const ModelShape* shape = std::begin(kShapes);
        while (shape + 1 != std::end(kShapes) && fits(shape[1])) ++shape;
        c.choose("n-layer", o.n_layer, shape->n_layer);
        c.choose("n-embd", o.n_embd, shape->n_embd);
        c.choose("n-head", o.n_head, shape->n_head);
        fit_given(c);
        c.choose("block-size", o.block_size, std::clamp(train_tokens / 4, 1.0, static_cast<double>(shape->block_size)));
    }
    const auto L = static_cast<double>(o.n_layer), C = static_cast<double>(o.n_embd);
    const double seen = std::min(flops / (6 * 12 * L * C * C), max_epochs(budget, c) * train_tokens);
    // adapters, and what teachers teach, get neither dropout nor more weight decay
    const double epochs = o.lora_rank > 0 || !o.teacher.empty() ? 0 : seen / train_tokens;
    const bool repeats = epochs > kEpochsWithoutDropout, often = epochs > kEpochsWithLittleDropout,
               muon = o.optimizer == OptimizerKind::muon;
    if (repeats) c.choose("dropout", o.dropout, often ? 0.2 : 0.1);
    if (repeats && muon) c.choose("weight-decay", o.weight_decay, often && epochs <= kEpochsWithMostDecay ? 0.3 : 0.5);
    if (often && muon) {
        c.choose("learning-rate", o.learning_rate, 0.024);
        c.choose("cautious-weight-decay", o.cautious_weight_decay, false);
    }
    const double batch_tokens = power_of_two(kBatch * portable::pow(seen / kBatchSeen, kBatchExponent), 256, 16384);
    c.choose("batch-size", o.batch_size, whole_parts(batch_tokens / static_cast<double>(o.block_size), o.shards));
    c.choose("embedding-lr", o.embedding_lr, o.embedding_lr * std::sqrt(128 / C));
    c.choose("head-lr", o.head_lr, o.head_lr * std::sqrt(128 / C));
}

double max_epochs(const Budget& budget, const Config& c) {
    return c.fits != Fits::model ? kMaxEpochs : budget.answers ? kAnswersMaxEpochs : kTunedMaxEpochs;
}

std::size_t planned_steps(const Budget& budget, double fitting_steps, const Config& c) {
    const TrainOptions& o = c.options;
    const double tokens = static_cast<double>(budget.tokens) * (1 - o.val_fraction);
    const double epochs = max_epochs(budget, c) * tokens / static_cast<double>(o.tokens_per_step());
    const double steps = std::min(fitting_steps, std::max(epochs, c.fits == Fits::model ? kTunedMinSteps : kMinSteps));
    return static_cast<std::size_t>(std::clamp(steps, 1.0, 1e9));
}

void fit_intervals(double evaluations, Config& c) {
    TrainOptions& o = c.options;
    const auto steps = static_cast<double>(o.max_iters);
    for (const auto& [flag, field, parts] : {std::tuple("eval-every", &o.eval_every, evaluations),
                                             {"save-every", &o.save_every, 4.0},
                                             {"sample-every", &o.sample_every, 2.0},
                                             {"log-every", &o.log_every, 100.0}})
        c.choose(flag, *field, std::max(1.0, steps / parts));
    c.choose("ema", o.ema, std::max(0.0, 1 - 50.0 / static_cast<double>(o.max_iters + 1)));
}

void fit_to_steps(const Budget& budget, Config& c) {
    if (c.fits == Fits::model) return fit_tuning_to_steps(budget, c);
    TrainOptions& o = c.options;
    const double seen = static_cast<double>(o.max_iters) * static_cast<double>(o.tokens_per_step());
    const bool repeats = seen > kEpochsWithoutDropout * static_cast<double>(budget.tokens) * (1 - o.val_fraction);
    fit_intervals(repeats ? 40 : 4, c);
    c.choose("patience", o.patience, repeats ? kPatience : 0);
    c.choose("eval-iters", o.eval_iters,
             std::ceil(kEvalPart * static_cast<double>(o.eval_every * o.gradient_accumulation_steps)));
}

Budget fit_sizes(Budget budget, const models::Architecture* loaded, Config& c) {
    TrainOptions& o = c.options;
    const bool anywhere = o.max_flops > 0;
    c.choose("precision", o.precision, has_fast_bf16() && !anywhere ? Precision::bf16 : Precision::fp32);
    if (anywhere) {
        budget.operations = o.max_flops;
    } else if (o.max_time > 0) {
        budget.seconds = o.max_time;
        budget.gflops = product_gflops(o.precision);
    }
    c.fits == Fits::model ? fit_tuning(budget, *loaded, c) : fit(budget, c);
    about_settings([&] { o.validate(); });
    return budget;
}

void fit_steps(const Budget& budget, double seconds_per_step, const models::Architecture& model, Config& c) {
    TrainOptions& o = c.options;
    const bool given = c.is_given("max-iters"), operations = c.is_given("max-flops") && o.max_flops > 0;
    const bool fits = c.fits != Fits::nothing;
    if (!operations && (given || !fits)) return;
    const double fitting = operations ? std::floor(o.max_flops / flops_per_step(o, model))
                                      : kPlannedTime * kStepsTime * budget.seconds / seconds_per_step;
    const std::size_t steps =
        fits ? planned_steps(budget, fitting, c) : static_cast<std::size_t>(std::clamp(fitting, 1.0, 1e9));
    o.max_iters = given ? std::min(o.max_iters, steps) : steps;
}

std::optional<double> fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, Budget budget,
                                 models::Transformer<float>* loaded, Config& c) {
    TrainOptions& o = c.options;
    const auto model = [&] { return loaded ? loaded->config : o.model_config(tokenizer.vocab_size()); };
    if (c.fits == Fits::nothing) {
        fit_steps(budget, 0, model(), c);
        return std::nullopt;
    }
    budget.vocabulary = tokenizer.vocab_size();
    budget = fit_sizes(budget, loaded ? &loaded->config : nullptr, c);
    const models::Architecture architecture = model();
    const auto text_tokens = static_cast<double>(budget.tokens);
    if (!fit_memory(c, architecture, text_tokens)) check_memory(o, architecture, text_tokens);
    double seconds = 0;
    if (!c.is_given("max-iters") && budget.operations == 0) {
        std::unique_ptr<models::Transformer<float>> made;
        if (!loaded) made = std::make_unique<models::Transformer<float>>(architecture);
        seconds = seconds_per_step(o, loaded ? *loaded : *made, tokenizer, tokens, 0.03 * budget.seconds);
    }
    release_cached_buffers();
    fit_steps(budget, seconds, architecture, c);
    if (seconds > 0)  // the time limit may end the run
        o.plan.adjustable = o.max_time > 0 && static_cast<double>(o.max_iters) * seconds > kStepsTime * o.max_time;
    fit_to_steps(budget, c);
    return seconds;
}

}  // namespace inkling::train

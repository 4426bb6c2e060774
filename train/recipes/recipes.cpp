#include "train/recipes/recipes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "engine/base/portable_math.h"
#include "train/recipes/finetune.h"

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
constexpr double kAdapterRate = 1e-3;
// A run that repeats its text has 40 evaluations, and stops after this many without improvement.
constexpr std::size_t kPatience = 16;
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

TrainOptions fast() {
    TrainOptions o;
    o.byte_fallback = data::ByteFallback::automatic;
    o.arch = "nanochat";
    o.softcap = 0;  // no other program's model class has a soft cap, and the loss is the same (docs/recipes.md)
    o.optimizer = OptimizerKind::muon;
    o.muon_scale = MuonScale::rows;
    o.ns_coefficients = NewtonSchulz::polar_express;
    o.ns_steps = 4;
    o.muon_split_heads = true;
    o.momentum = 0.9;
    o.learning_rate = 0.03;
    o.embedding_lr = 0.01;
    o.head_lr = 0.004;
    o.min_lr = 0;
    o.schedule = ScheduleKind::linear;
    o.warmup_iters = 0;
    o.weight_decay = 0.1;
    o.cautious_weight_decay = true;
    o.sampler = data::SamplerKind::shuffle;
    o.block_size = 128;
    o.batch_size = 16;
    o.max_time = 60;
    return o;
}

// For the built-in corpus, where a model must copy a few words from the beginning of a story to its end: byte pairs
// make each word one token, and wide heads, high rates for tables, and windows that begin with a story learn the
// copying fastest.
TrainOptions stories() {
    TrainOptions o = fast();
    o.tokenizer = "bpe";
    o.vocab_size = 1024;
    o.n_layer = 2, o.n_head = 2, o.n_embd = 128, o.block_size = 128;
    o.sampler = data::SamplerKind::paragraphs;
    o.embedding_lr = 0.03, o.head_lr = 0.01;
    o.val_fraction = 0.025;
    return o;
}

// nanoGPT's config/train_shakespeare_char.py over its defaults. nanogpt-cpu is the smaller one of its README for a CPU,
// the defaults of TrainOptions.
TrainOptions nanogpt_baby() {
    TrainOptions o;
    o.n_layer = 6, o.n_head = 6, o.n_embd = 384, o.block_size = 256;
    o.batch_size = 64;
    o.dropout = 0.2;
    o.max_iters = 5000;
    return o;
}

}  // namespace

const std::vector<Recipe>& recipes() {
    static const std::vector<Recipe> all = {
        {.name = "fast", .options = fast(), .fits_run = true, .fits_shape = true},
        {.name = "stories", .options = stories(), .fits_run = true},
        {.name = "finetune", .options = finetune_options(fast()), .fits_run = true, .tunes = true},
        {.name = "nanogpt-cpu", .options = {}},
        {.name = "nanogpt-baby", .options = nanogpt_baby()},
    };
    return all;
}

std::vector<std::string> recipe_names() {
    std::vector<std::string> names;
    for (const Recipe& r : recipes()) names.push_back(r.name);
    return names;
}

const Recipe& recipe(const std::string& name) {
    const auto found =
        std::find_if(recipes().begin(), recipes().end(), [&](const Recipe& r) { return r.name == name; });
    if (found == recipes().end()) refuse_name("--recipe", name, recipe_names());
    return *found;
}

const Recipe& default_recipe(bool built_in_corpus, bool model_exists) {
    return recipe(model_exists ? "finetune" : built_in_corpus ? "stories" : "fast");
}

void fit_given(const std::set<std::string>& given, TrainOptions& o) {
    const Choose set{given};
    if (given.contains("n-embd") && !given.contains("n-head")) o.n_head = heads_for(o.n_embd);
    const bool shared = given.contains("n-kv-head") && !given.contains("n-head") && o.n_kv_head > 0;
    if (shared) o.n_head = std::lcm(o.n_head, o.n_kv_head);
    if ((given.contains("n-head") || shared) && !given.contains("n-embd") &&
        o.n_head > 0)  // an even number of columns per head
        o.n_embd = std::max<std::size_t>(1, (o.n_embd / o.n_head + 1) / 2) * 2 * o.n_head;
    if (given.contains("max-iters") || given.contains("max-flops")) set("max-time", o.max_time, 0);
    set("batch-size", o.batch_size, whole_parts(static_cast<double>(o.batch_size), o.shards));
    if (o.lora_rank > 0) {  // two thin factors, commonly trained with AdamW
        set("optimizer", o.optimizer, OptimizerKind::adamw);
        if (o.optimizer == OptimizerKind::adamw) set("learning-rate", o.learning_rate, kAdapterRate);
        set("weight-decay", o.weight_decay, 0);
    } else if (o.optimizer != OptimizerKind::muon)
        set("learning-rate", o.learning_rate, o.optimizer == OptimizerKind::adamw ? 3e-3 : 0.1);
    if (o.optimizer != OptimizerKind::muon || o.learning_rate == 0) {
        set("embedding-lr", o.embedding_lr, 0);
        set("head-lr", o.head_lr, 0);
    }
}

double Budget::flops() const { return operations > 0 ? operations : seconds * gflops * 1e9 * kEfficiency; }

void fit_tokenizer(std::size_t bytes, const std::set<std::string>& given, TrainOptions& o) {
    if (given.contains("tokenizer")) return;
    const bool pairs = given.contains("vocab-size") || (bytes > kShortText && !given.contains("byte-fallback"));
    o.tokenizer = name_of(pairs ? data::TokenizerKind::byte_pairs : data::TokenizerKind::characters);
    if (pairs && !given.contains("vocab-size"))
        o.vocab_size = static_cast<std::size_t>(
            power_of_two(kPairs * portable::pow(static_cast<double>(bytes) / kPairsText, kPairsExponent), 512, 8192));
}

std::size_t whole_parts(double rows, std::size_t shards) {
    const std::size_t whole = static_cast<std::size_t>(std::max(1.0, rows)), parts = std::max<std::size_t>(1, shards);
    return (whole + parts - 1) / parts * parts;
}

void fit(const Budget& budget, bool fit_shape, const std::set<std::string>& given, TrainOptions& o) {
    const Choose set{given};
    // 6 operations per parameter and token: the budget gives parameters times tokens
    const double flops = budget.flops();
    const auto train_tokens = static_cast<double>(budget.tokens) * (1 - o.val_fraction);
    const double parameters =
        std::min(std::sqrt(flops / (6 * kTokensPerParameter)), kMaxParametersPerToken * train_tokens);
    if (fit_shape) {
        const ModelShape* shape = std::begin(kShapes);
        while (shape + 1 != std::end(kShapes) && shape[1].parameters() <= parameters) ++shape;
        set("n-layer", o.n_layer, shape->n_layer);
        set("n-embd", o.n_embd, shape->n_embd);
        set("n-head", o.n_head, shape->n_head);
        fit_given(given, o);
        set("block-size", o.block_size, std::clamp(train_tokens / 4, 1.0, static_cast<double>(shape->block_size)));
    }
    const auto L = static_cast<double>(o.n_layer), C = static_cast<double>(o.n_embd);
    const double seen = std::min(flops / (6 * 12 * L * C * C), kMaxEpochs * train_tokens);
    // adapters, and what teachers teach, get neither dropout nor more weight decay
    const double epochs = o.lora_rank > 0 || !o.teacher.empty() ? 0 : seen / train_tokens;
    const bool repeats = epochs > kEpochsWithoutDropout, often = epochs > kEpochsWithLittleDropout,
               muon = o.optimizer == OptimizerKind::muon;
    if (repeats) set("dropout", o.dropout, often ? 0.2 : 0.1);
    if (repeats && muon) set("weight-decay", o.weight_decay, often && epochs <= kEpochsWithMostDecay ? 0.3 : 0.5);
    if (often && muon) {
        set("learning-rate", o.learning_rate, 0.024);
        set("cautious-weight-decay", o.cautious_weight_decay, false);
    }
    const double batch_tokens = power_of_two(kBatch * portable::pow(seen / kBatchSeen, kBatchExponent), 256, 16384);
    set("batch-size", o.batch_size, whole_parts(batch_tokens / static_cast<double>(o.block_size), o.shards));
    set("embedding-lr", o.embedding_lr, o.embedding_lr * std::sqrt(128 / C));
    set("head-lr", o.head_lr, o.head_lr * std::sqrt(128 / C));
}

std::size_t planned_steps(const Budget& budget, double fitting_steps, const TrainOptions& o, double max_epochs,
                          double min_steps) {
    const auto per_step = static_cast<double>(o.tokens_per_step());
    const double epochs = max_epochs * static_cast<double>(budget.tokens) * (1 - o.val_fraction) / per_step;
    const double steps = std::min(fitting_steps, std::max(epochs, min_steps));
    return static_cast<std::size_t>(std::clamp(steps, 1.0, 1e9));
}

void fit_intervals(double evaluations, const Choose& set, TrainOptions& o) {
    const auto steps = static_cast<double>(o.max_iters);
    for (const auto& [flag, field, parts] : {std::tuple("eval-every", &o.eval_every, evaluations),
                                             {"save-every", &o.save_every, 4.0},
                                             {"sample-every", &o.sample_every, 2.0},
                                             {"log-every", &o.log_every, 100.0}})
        set(flag, *field, std::max(1.0, steps / parts));
    set("ema", o.ema, std::max(0.0, 1 - 50.0 / static_cast<double>(o.max_iters + 1)));
}

void fit_to_steps(const Budget& budget, const std::set<std::string>& given, TrainOptions& o) {
    const Choose set{given};
    const double seen = static_cast<double>(o.max_iters) * static_cast<double>(o.tokens_per_step());
    const bool repeats = seen > kEpochsWithoutDropout * static_cast<double>(budget.tokens) * (1 - o.val_fraction);
    fit_intervals(repeats ? 40 : 4, set, o);
    set("patience", o.patience, repeats ? kPatience : 0);
    set("eval-iters", o.eval_iters,
        std::ceil(kEvalPart * static_cast<double>(o.eval_every * o.gradient_accumulation_steps)));
}

}  // namespace inkling::train

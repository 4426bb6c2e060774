#include "train/plan.h"

#include <algorithm>

#include "data/char_tokenizer.h"
#include "engine/buffer_pool.h"
#include "engine/clock.h"
#include "engine/random.h"
#include "models/language_model.h"
#include "nn/init.h"
#include "train/optimizer.h"
#include "train/trainer.h"

namespace inkling::train {
namespace {

struct Measured {
    double flops_per_s = 0, activation_bytes = 0;
};

// As many characters as a vocabulary has tokens; nothing is written with them.
data::CharTokenizer any_tokenizer(std::size_t vocab_size) {
    std::vector<char32_t> characters(vocab_size);
    for (std::size_t i = 0; i < vocab_size; ++i) characters[i] = static_cast<char32_t>(0x10000 + i);
    return data::CharTokenizer(characters);
}

// Of parameters, gradients and all else that is as long.
double state_bytes(const TrainOptions& options, const models::GPTConfig& config) {
    double arrays = 2;  // parameters and gradients
    arrays += options.optimizer == "sgd" ? 1 : 2;
    if (options.ema > 0) arrays += 2;
    return 4 * arrays * static_cast<double>(config.parameter_count());
}

Measured measure(const TrainOptions& options, std::size_t vocab_size) {
    constexpr int kSteps = 5;
    constexpr double kEnough = 0.5;  // seconds
    const models::GPTConfig config = options.model_config(vocab_size);
    const Generator before = nn::default_generator();
    const data::CharTokenizer tokenizer = any_tokenizer(vocab_size);
    std::vector<std::int32_t> tokens(10 * options.block_size + 1000);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int32_t>(random_below({3, 0}, i, vocab_size));
    Report quiet(true);
    const std::size_t in_use = pool_statistics().bytes_in_use;
    const auto model = models::make_model<float>(config);
    Trainer trainer(options, *model, tokenizer, tokens, quiet);
    model->train();
    double best = 1e30, sum = 0;
    for (int i = 0; i < kSteps && sum < kEnough; ++i) {
        const double start = seconds_now();
        trainer.step();
        const double seconds = seconds_now() - start;
        best = std::min(best, seconds);
        sum += seconds;
    }
    nn::default_generator() = before;
    const double state = state_bytes(options, config);
    const double peak = static_cast<double>(pool_statistics().peak_bytes - in_use);
    const double flops = training_flops(config, static_cast<double>(options.batch_size * options.block_size));
    return {flops / best, std::max(0.0, peak - state)};
}

}  // namespace

double training_flops(const models::GPTConfig& config, double tokens) {
    const double C = static_cast<double>(config.n_embd), T = static_cast<double>(config.block_size);
    // tables that are looked up, not multiplied: positions, or nanochat's tokens, which are not its head
    const double tables = C * (config.arch == models::Arch::gpt2 ? T : static_cast<double>(config.vocab_size));
    const double weights = static_cast<double>(config.parameter_count()) - tables;
    return 6 * weights * tokens + 6 * static_cast<double>(config.n_layer) * C * T * tokens;
}

Plan make_plan(const TrainOptions& options, std::size_t vocab_size) {
    const models::GPTConfig config = options.model_config(vocab_size);
    Plan plan;
    plan.parameters = config.parameter_count();
    plan.tokens_a_step =
        static_cast<double>(options.batch_size * options.block_size * options.gradient_accumulation_steps);
    plan.flops_a_step = training_flops(config, plan.tokens_a_step);
    plan.state_bytes = state_bytes(options, config);
    plan.checkpoint_bytes = plan.state_bytes - 4 * static_cast<double>(plan.parameters);  // no gradients

    TrainOptions small = options;
    const std::size_t head = options.n_embd / options.n_head;
    small.n_head = std::clamp<std::size_t>(512 / head, 1, options.n_head);
    small.n_kv_head = 0;
    small.n_embd = head * small.n_head;
    small.block_size = std::min<std::size_t>(options.block_size, 512);
    small.batch_size = std::clamp<std::size_t>(512 / small.block_size, 1, options.batch_size);
    small.gradient_accumulation_steps = 1;
    small.val_fraction = 0;
    const std::size_t kinds = std::min<std::size_t>(vocab_size, 8192);
    const auto with_layers = [&](std::size_t n) {
        small.n_layer = n;
        return measure(small, kinds);
    };
    const Measured one = with_layers(1), two = with_layers(2);
    plan.flops_per_s = two.flops_per_s;

    // a part for each layer, and one for embeddings and head; both grow with the tokens, and with the width
    const double layer = std::max(0.0, two.activation_bytes - one.activation_bytes);
    const double rest = std::max(0.0, one.activation_bytes - layer);
    const double rows = static_cast<double>(options.batch_size * options.block_size) /
                        static_cast<double>(small.batch_size * small.block_size);
    const double width = static_cast<double>(options.n_embd) / static_cast<double>(small.n_embd);
    plan.activation_bytes = rows * width * (rest + layer * static_cast<double>(options.n_layer));
    return plan;
}

}  // namespace inkling::train

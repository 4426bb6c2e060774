#include "train/plan.h"

#include <algorithm>
#include <utility>

#include "data/sampler.h"
#include "data/tokenizers/char_tokenizer.h"
#include "engine/backward.h"
#include "engine/buffer_pool.h"
#include "engine/clock.h"
#include "engine/memory.h"
#include "engine/ops/linear_cross_entropy.h"
#include "engine/precision.h"
#include "engine/random.h"
#include "models/families/family.h"
#include "models/transformer.h"
#include "train/evaluate.h"
#include "train/optimizers/optimizer.h"
#include "train/trainer.h"

namespace inkling::train {
namespace {

// What was measured with a model.
struct Measured {
    double flops_per_s = 0;
    double step = 0;        // bytes that forward and backward take
    double update = 0;      // bytes that the optimizer takes besides its state
    double evaluation = 0;  // bytes
    double copies = 0;      // bytes of the matrices that are saved in another layout
};

// As many characters as a vocabulary has tokens; nothing is written with them.
data::CharTokenizer any_tokenizer(std::size_t vocab_size) {
    std::vector<char32_t> characters(vocab_size);
    for (std::size_t i = 0; i < vocab_size; ++i) characters[i] = static_cast<char32_t>(0x10000 + i);
    return data::CharTokenizer(characters);
}

// AdamW keeps two numbers for each parameter; SGD one; Muon one for those in matrices, and two for others.
double optimizer_bytes(const TrainOptions& options, const models::Architecture& config) {
    const auto all = static_cast<double>(models::parameter_count(config));
    if (options.optimizer == "sgd") return 4 * all;
    if (options.optimizer == "adamw") return 8 * all;
    return 8 * all - 4 * static_cast<double>(models::matrix_count(config));
}

// Bytes that the pool has from the system.
double held() {
    const PoolStatistics now = pool_statistics();
    return static_cast<double>(now.bytes_in_use + now.bytes_cached);
}

Measured measure(const TrainOptions& options, std::size_t vocab_size, std::size_t eval_tokens) {
    constexpr int kWarmUp = 2, kMost = 5;  // steps
    constexpr double kEnough = 0.5;        // seconds
    const models::Architecture config = options.model_config(vocab_size);
    const data::CharTokenizer tokenizer = any_tokenizer(vocab_size);
    std::vector<std::int32_t> tokens(10 * options.block_size + 1000 + eval_tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int32_t>(random_below({3, 0}, i, vocab_size));
    Report quiet(true);
    const auto model = std::make_unique<models::Transformer<float>>(config);
    Trainer trainer(options, *model, tokenizer, tokens, quiet);
    model->train();
    Measured m;
    double last = held();
    const auto more = [&last] { return held() - std::exchange(last, held()); };
    {
        const WithPrecision scope(precision_named(options.precision));
        data::Batch batch;
        data::make_sampler("random", tokens, options.batch_size, options.block_size, 0)->fill(0, batch);
        trainer.parameters().zero_gradients();
        Generator random;
        backward(model->loss(id_array(batch.inputs, batch.batch, batch.length),
                             id_array(batch.targets, batch.batch, batch.length), &random));
    }
    m.step = more();
    double best = 1e30, sum = 0;
    for (int i = 0; i < kWarmUp || (i < kMost && sum < kEnough); ++i) {
        const double start = seconds_now();
        trainer.step();
        const double seconds = seconds_now() - start;
        best = std::min(best, seconds);
        sum += seconds;
        if (i + 1 == kWarmUp) m.update = more();  // not later: how many steps there are depends on the time
    }
    last = held();
    if (eval_tokens < 2) {  // there is no validation part
    } else if (options.eval_iters > 0) {
        evaluate_sample(*model, tokens, 1, options.batch_size);
    } else {
        evaluate(*model, std::span(tokens).first(std::min(tokens.size(), eval_tokens)));
    }
    m.evaluation = more();
    const models::Family& names = models::family(config.family);
    for (const models::Parameter& p : models::parameters(config))
        if (names.stored_transposed(p)) m.copies += 4 * static_cast<double>(size_of(p.shape));
    m.flops_per_s = training_flops(config, static_cast<double>(options.batch_size * options.block_size)) / best;
    return m;
}

// Small enough to be measured itself.
bool is_small(const TrainOptions& o, const models::Architecture& config) {
    constexpr double kParameters = 4e6, kActivations = 8e6, kFlops = 3e10;
    constexpr std::size_t kVocabulary = 100'000;
    const double tokens = static_cast<double>(o.batch_size) * static_cast<double>(o.block_size);
    return static_cast<double>(models::parameter_count(config)) < kParameters && config.vocab_size < kVocabulary &&
           tokens * static_cast<double>(o.n_embd * o.n_layer) < kActivations && training_flops(config, tokens) < kFlops;
}

// Of the same kind, with heads of the same width, at most 512 wide and with at most 512 tokens a step.
TrainOptions smaller(const TrainOptions& o) {
    TrainOptions small = o;
    const std::size_t head = std::min<std::size_t>(o.n_embd / o.n_head, 512);
    small.n_head = std::clamp<std::size_t>(512 / head, 1, o.n_head);
    small.n_kv_head = 0;
    small.n_embd = head * small.n_head;
    small.block_size = std::min<std::size_t>(o.block_size, 512);
    small.batch_size = std::clamp<std::size_t>(512 / small.block_size, 1, o.batch_size);
    return small;
}

}  // namespace

double training_flops(const models::Architecture& config, double tokens) {
    const double C = static_cast<double>(config.query_width()), T = static_cast<double>(config.block_size);
    return 6 * static_cast<double>(models::multiplied_count(config)) * tokens +
           6 * static_cast<double>(config.n_layer) * C * T * tokens;
}

void plan_sizes(const TrainOptions& options, std::size_t vocab_size, double text_tokens, Plan& plan) {
    const models::Architecture config = options.model_config(vocab_size);
    const auto all = static_cast<double>(models::parameter_count(config));
    const double optimizer = optimizer_bytes(options, config), average = options.ema > 0 ? 4 * all : 0;
    plan.text_bytes = 4 * text_tokens;
    plan.state_bytes = 8 * all + optimizer + average;
    plan.checkpoint_bytes = 4 * all + optimizer + average;  // no gradients
}

Plan make_plan(const TrainOptions& options, std::size_t vocab_size, double text_tokens) {
    const models::Architecture config = options.model_config(vocab_size);
    Plan plan;
    plan.parameters = models::parameter_count(config);
    const double tokens = static_cast<double>(options.batch_size) * static_cast<double>(options.block_size);
    plan.tokens_a_step = tokens * static_cast<double>(options.gradient_accumulation_steps);
    plan.flops_a_step = training_flops(config, plan.tokens_a_step);
    plan_sizes(options, vocab_size, text_tokens, plan);

    TrainOptions tried = options;
    tried.val_fraction = 0;
    tried.sampler = "random";
    tried.gradient_accumulation_steps = 1;
    release_cached_buffers();
    const auto eval_tokens = static_cast<std::size_t>(std::min(4097.0, options.val_fraction * text_tokens));
    Measured m;
    if (is_small(options, config)) {
        m = measure(tried, vocab_size, eval_tokens);
    } else {
        // Of the head's logits only some are there at a time: they are counted, not measured.
        constexpr std::size_t kFew = 64;
        tried = smaller(tried);
        tried.n_layer = 1;
        const Measured one = measure(tried, kFew, eval_tokens);
        release_cached_buffers();
        tried.n_layer = 2;
        m = measure(tried, kFew, eval_tokens);
        // a part for each layer, and one for embeddings and head; both grow with the tokens, and with the width
        const double layer = std::max(0.0, m.step - one.step), rest = std::max(0.0, one.step - layer);
        const double rows = tokens / static_cast<double>(tried.batch_size * tried.block_size);
        const double width = static_cast<double>(options.n_embd) / static_cast<double>(tried.n_embd);
        const double matrices = static_cast<double>(models::matrix_count(config)) /
                                static_cast<double>(models::matrix_count(tried.model_config(kFew)));
        const double logits =
            4 * tokens * static_cast<double>(columns_at_a_time(static_cast<std::size_t>(tokens), config.vocab_size, 4));
        m.step = rows * width * (rest + layer * static_cast<double>(options.n_layer)) + 3 * logits;
        m.update *= matrices;
        m.copies *= matrices;
        m.evaluation *= width;
    }
    release_cached_buffers();
    plan.flops_per_s = m.flops_per_s;
    plan.work_bytes = m.step + m.update + m.copies + m.evaluation;
    return plan;
}

void check_memory(const TrainOptions& options, std::size_t vocab_size, double text_tokens) {
    constexpr double kAny = 1e9,
                     kEach = 200;  // bytes of work, at most: of any run, and for a number that layers hand on
    constexpr double kSure = 0.7;  // of what is estimated
    const auto room = static_cast<double>(available_memory()) + static_cast<double>(memory_in_use());
    Plan plan;
    plan_sizes(options, vocab_size, text_tokens, plan);
    const double activations = static_cast<double>(options.batch_size) * static_cast<double>(options.block_size) *
                               static_cast<double>(options.n_embd) * static_cast<double>(options.n_layer + 1);
    if (2 * plan.state_bytes + kEach * activations + kAny < room) return;  // without a doubt
    plan = make_plan(options, vocab_size, text_tokens);
    if (plan.state_bytes + kSure * plan.work_bytes < room) return;
    throw Error(
        fmt::format("out of memory: this run needs about {}, and there are {}: choose a smaller model, batch or "
                    "context, which --dry-run tells the memory of",
                    bytes_text(plan.memory_bytes()), bytes_text(room)));
}

}  // namespace inkling::train

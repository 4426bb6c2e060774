#include "train/recipes/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "data/sampler.h"
#include "engine/autograd/backward.h"
#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/fused/linear_cross_entropy.h"
#include "engine/memory/buffer_pool.h"
#include "engine/process/memory.h"
#include "models/families/family.h"
#include "models/transformer.h"
#include "train/evaluate.h"
#include "train/step/step.h"
#include "train/step/teachers.h"

namespace inkling::train {
namespace {

// What trial steps of a model measured.
struct Measured {
    double flops_per_s = 0;
    double step = 0;        // bytes that forward and backward take
    double update = 0;      // bytes that the optimizer takes besides its state
    double evaluation = 0;  // bytes
    double copies = 0;      // bytes of the matrices that are saved transposed
};

// Memory of the teachers' weights, and of the logits and probabilities that a run with teachers holds at once.
double teacher_bytes(const TrainOptions& options, const models::Architecture& config) {
    constexpr double kTables = 6;
    if (options.teacher.empty()) return 0;
    double numbers = kTables * static_cast<double>(config.vocab_size) *
                     static_cast<double>(options.rows_per_shard() * options.block_size);
    for (const models::Architecture& teacher : teacher_architectures(options))
        numbers += static_cast<double>(models::parameter_count(teacher));
    return 4 * numbers;
}

// Like training_flops, without the gradients of frozen weights.
double step_flops(const TrainOptions& options, const models::ParameterFilter& adapted,
                  const models::Architecture& config, double tokens) {
    const double all = training_flops(config, tokens);
    if (options.lora_rank == 0) return all;
    const auto adapters = static_cast<double>(models::adapter_count(config, options.lora_rank, adapted));
    return all + (6 * adapters - 2 * static_cast<double>(models::multiplied_count(config))) * tokens;
}

// The parts of an architecture that --lora-targets names, also in one with fewer layers; none without --lora-rank.
models::ParameterFilter adapted_parts(const TrainOptions& options, const models::Architecture& config) {
    std::set<models::ParameterName> parts;
    if (options.lora_rank > 0) {
        const models::ParameterFilter targets = models::adapter_targets(config, options.lora_targets);
        for (const models::ParameterSpec& p : models::parameters(config))
            if (targets(p)) parts.insert(p.name);
    }
    return [parts](const models::ParameterSpec& p) { return models::may_be_adapted(p) && parts.contains(p.name); };
}

// Limits the context to the rows that are trained on, which may be shorter than the model's context.
models::Architecture of_rows(const TrainOptions& options, models::Architecture config) {
    config.block_size = std::min(config.block_size, options.block_size);
    return config;
}

// Bytes that the pool has from the system.
double held() {
    const PoolStatistics now = pool_statistics();
    return static_cast<double>(now.bytes_in_use + now.bytes_cached);
}

Measured measure(const TrainOptions& options, const models::ParameterFilter& adapted,
                 const models::Architecture& config, std::size_t eval_tokens) {
    constexpr int kWarmUp = 2, kMaxSteps = 5;
    constexpr double kEnough = 0.5;  // seconds
    std::vector<std::int32_t> tokens(10 * config.block_size + 1000 + eval_tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int32_t>(random_below({3, 0}, i, config.vocab_size));
    const auto sampler =
        data::make_sampler(data::SamplerKind::random, tokens, options.batch_size, config.block_size, options.seed);
    const auto model = std::make_unique<models::Transformer<float>>(config);
    if (options.lora_rank > 0) {
        const bool file = options.base_precision == WeightType::file;  // the probe has no file: it takes q8_0 instead
        model->freeze({file ? WeightType::q8_0 : options.base_precision});
        model->adapt(options.adapter_options(), adapted, Generator{options.seed});
    }
    TrainingStep step(options, *model, *sampler);
    Measured m;
    double last = held();
    const auto more = [&last] { return held() - std::exchange(last, held()); };
    {
        const WithPrecision scope(options.precision);
        data::Batch batch;
        sampler->fill(0, batch);
        step.parameters.zero_gradients();
        Generator random;
        backward(model->loss(batch.inputs, batch.targets, &random));
    }
    m.step = more();
    double best = 1e30, sum = 0;
    for (int i = 0; i < kWarmUp || (i < kMaxSteps && sum < kEnough); ++i) {
        const double start = seconds_now();
        step.run(static_cast<std::size_t>(i));
        const double seconds = seconds_now() - start;
        best = std::min(best, seconds);
        sum += seconds;
        if (i + 1 == kWarmUp) m.update = more();  // not later: the number of steps depends on the time
    }
    // In the run, the optimizer's buffers have other sizes than here, so the evaluation cannot reuse them.
    release_cached_buffers();
    last = held();
    if (eval_tokens >= 2) {  // there is a validation part
        evaluate(*model, data::TokenView(tokens).first(std::min(tokens.size(), eval_tokens)));
    }
    m.evaluation = more();
    const models::Family& names = models::family(config.family);
    for (const models::ParameterSpec& p : models::parameters(config))
        if (options.lora_rank == 0 && names.stored_transposed(p)) m.copies += 4 * static_cast<double>(size_of(p.shape));
    const auto tokens_a_step = static_cast<double>(options.batch_size * config.block_size);
    m.flops_per_s = step_flops(options, adapted, config, tokens_a_step) / best;
    return m;
}

// Whether the model itself is small enough to be measured.
bool is_small(double tokens, const models::Architecture& config) {
    constexpr double kParameters = 4e6, kActivations = 8e6, kFlops = 3e10;
    constexpr std::size_t kVocabulary = 100'000;
    return static_cast<double>(models::parameter_count(config)) < kParameters && config.vocab_size < kVocabulary &&
           tokens * static_cast<double>(config.n_embd * config.n_layer) < kActivations &&
           training_flops(config, tokens) < kFlops;
}

// The model with all widths divided by the same number, as far as they can be; else with heads of at most 512 numbers,
// a model at most 512 wide. It has a context of at most 512, and layers of at most 8M numbers, if possible.
models::Architecture smaller(const models::Architecture& config) {
    constexpr std::size_t kLayer = 8'000'000, kLargest = 4 * kLayer;  // numbers
    models::Architecture small = config;
    small.n_layer = 2;  // adapters leave nothing to recompute in the first
    small.block_size = std::min<std::size_t>(config.block_size, 512);
    small.vocab_size = 64;  // the head computes its logits in parts: estimate() counts their memory
    const std::size_t heads = std::gcd(config.n_head, config.kv_heads());
    for (std::size_t by = 1; by <= heads; ++by) {
        if (heads % by != 0 || config.n_embd % by != 0 || config.inner() % by != 0) continue;
        small.n_head = config.n_head / by;
        small.set_kv_heads(config.kv_heads() / by);
        small.n_embd = config.n_embd / by;
        if (config.n_inner) small.n_inner = config.n_inner / by;
        if (models::matrix_count(small) <= kLayer) break;
    }
    if (models::matrix_count(small) <= kLargest) return small;
    const std::size_t head = std::min<std::size_t>(config.head_size(), 512);
    const auto scaled = [&](std::size_t size) { return std::max<std::size_t>(1, size * small.n_head / config.n_head); };
    small.n_head = std::clamp<std::size_t>(512 / head, 1, config.n_head);
    small.n_kv_head = 0;
    small.n_embd = config.head_dim ? scaled(config.n_embd) : head * small.n_head;
    if (config.head_dim) small.head_dim = head;
    if (config.n_inner) small.n_inner = scaled(config.n_inner);
    return small;
}

}  // namespace

double flops_per_step(const TrainOptions& options, const models::Architecture& config) {
    const auto tokens = static_cast<double>(options.tokens_per_step());
    double flops = step_flops(options, adapted_parts(options, config), of_rows(options, config), tokens);
    for (const models::Architecture& teacher : teacher_architectures(options))
        flops += training_flops(of_rows(options, teacher), tokens) / 3;  // forward alone
    return flops;
}

Estimate estimate(const TrainOptions& options, const models::Architecture& config, double text_tokens,
                  std::size_t processes) {
    Estimate result = estimate_sizes(options, config, text_tokens, processes);
    result.parameters = models::parameter_count(config);
    const models::Architecture rows = of_rows(options, config);
    const double tokens = static_cast<double>(options.rows_per_shard()) * static_cast<double>(rows.block_size);
    result.tokens_per_step = static_cast<double>(options.tokens_per_step());
    result.trained = trained_count(options, config);
    if (options.lora_rank > 0) result.parameters += static_cast<std::size_t>(result.trained);
    const models::ParameterFilter adapted = adapted_parts(options, config);
    result.flops_per_step = flops_per_step(options, config);
    result.teacher_bytes = teacher_bytes(options, config);

    TrainOptions tried = options;  // one part of a step
    tried.gradient_accumulation_steps = tried.shards = 1;
    tried.teacher.clear();  // counted above
    tried.batch_size = options.rows_per_shard();
    release_cached_buffers();
    const auto eval_tokens = static_cast<std::size_t>(std::min(4097.0, options.val_fraction * text_tokens));
    const bool whole = is_small(tokens, rows);
    models::Architecture small = whole ? rows : smaller(rows);
    const auto ratio = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
    if (!whole) {
        // Gives an activation as many numbers as in the run, up to 2M: a larger one is recomputed rather than saved.
        constexpr double kNumbers = 2 << 20;
        const double in_a_row = static_cast<double>(small.block_size * small.n_embd);
        const double numbers = std::min(kNumbers, tokens * static_cast<double>(config.n_embd));
        tried.batch_size = static_cast<std::size_t>(std::max(1.0, std::round(numbers / in_a_row)));
    }
    Measured m = measure(tried, adapted, small, eval_tokens);
    if (!whole) {
        const double more = tokens / ratio(tried.batch_size * small.block_size, 1),
                     width = ratio(config.n_embd, small.n_embd);
        const double two = m.step;
        small.n_layer = 3;
        release_cached_buffers();
        m = measure(tried, adapted, small, eval_tokens);
        const double layer = std::max(0.0, m.step - two);  // a further layer takes as much as the third
        const double matrices = options.lora_rank > 0
                                    ? result.trained / trained_count(options, small)
                                    : ratio(models::matrix_count(config), models::matrix_count(small));
        const double logits =
            4 * tokens * static_cast<double>(columns_at_a_time(static_cast<std::size_t>(tokens), config.vocab_size, 4));
        m.step = more * width * (two + layer * (static_cast<double>(config.n_layer) - 2)) + 3 * logits;
        m.update *= matrices;
        m.copies *= matrices;
        m.evaluation *= width;
    }
    release_cached_buffers();
    result.flops_per_s = m.flops_per_s;
    result.work_bytes = m.step + m.update + m.copies + m.evaluation;
    return result;
}

static double room() { return static_cast<double>(available_memory()) + static_cast<double>(memory_in_use()); }

static bool certainly_fits(const TrainOptions& options, const models::Architecture& config, double text_tokens) {
    // an upper bound of the work bytes: a constant for any run, and bytes per activation between layers
    constexpr double kAny = 1e9, kEach = 200;
    const Estimate needed = estimate_sizes(options, config, text_tokens);
    const std::size_t length = std::min(config.block_size, options.block_size);
    const double activations = static_cast<double>(options.rows_per_shard()) * static_cast<double>(length) *
                               static_cast<double>(config.n_embd) * static_cast<double>(config.n_layer + 1);
    return 2 * (needed.state_bytes + teacher_bytes(options, config)) + kEach * activations + kAny < room();
}

bool fit_memory(Config& c, const models::Architecture& config, double text_tokens) {
    TrainOptions& o = c.options;
    if (certainly_fits(o, config, text_tokens)) return true;
    if (o.checkpoint_activations || c.is_given("checkpoint-activations")) return false;
    o.checkpoint_activations = estimate(o, config, text_tokens).memory_bytes() > room();
    return !o.checkpoint_activations;
}

void check_memory(const TrainOptions& options, const models::Architecture& config, double text_tokens) {
    constexpr double kSure = 0.7;  // share of the estimate that is certain
    if (certainly_fits(options, config, text_tokens)) return;
    const Estimate needed = estimate(options, config, text_tokens);
    const double room = train::room();
    if (needed.state_bytes + needed.teacher_bytes + kSure * needed.work_bytes < room) return;
    throw Error(out_of_memory_text("this run", needed.memory_bytes(), room,
                                   "choose a smaller model, batch or context; --dry-run shows their memory"));
}

}  // namespace inkling::train

#include "train/recipes/speed.h"

#include <algorithm>
#include <cmath>

#include "data/sampler.h"
#include "distributed/processes.h"
#include "engine/base/clock.h"
#include "engine/memory/buffer_pool.h"
#include "engine/weights/operand.h"
#include "train/step/step.h"

namespace inkling::train {
namespace {

constexpr double kProductSeconds = 0.1;  // longer than another program's time slice on a core

}  // namespace

double product_gflops(Precision precision) {
    constexpr std::size_t M = 1024, K = 256, N = 256;
    const WithPrecision scope(precision);
    const Operand<float> a(Array<float>({M, K}, 0.5f)), b(Array<float>({K, N}, 0.25f));
    Array<float> c({M, N});
    distributed::processes().barrier();
    double best = 1e30;
    for (const double begin = seconds_now(); seconds_now() - begin < kProductSeconds;) {
        const double start = seconds_now();
        product(a, b, c);
        best = std::min(best, seconds_now() - start);
    }
    const double own = 2.0 * M * K * N / best / 1e9;
    double all = 0;
    for (const double each : distributed::processes().gather_all(own)) all += each;
    return all;
}

double seconds_per_step(const TrainOptions& options, models::Transformer<float>& model,
                        const data::Tokenizer& tokenizer, data::TokenView tokens, double max_seconds) {
    distributed::Processes& processes = distributed::processes();
    model.train();
    double best = 1e30;
    {
        TrainOptions still = options;
        still.learning_rate = still.min_lr = still.embedding_lr = still.head_lr = still.vector_lr = 0;
        const auto sampler = data::make_sampler(still.sampler, data::split_tokens(tokens, still.val_fraction).train,
                                                still.rows_per_shard(), still.block_size, still.seed, &tokenizer);
        TrainingStep step(still, model, *sampler, processes);
        processes.barrier();
        const double begin = seconds_now();
        std::size_t number = 0;
        do {  // the first steps create buffers and primitives, and are not the fastest
            const double start = seconds_now();
            step.run(number++);
            best = std::min(best, seconds_now() - start);
        } while (processes.of_first(seconds_now() - begin < max_seconds) && number < 100);
    }
    release_cached_buffers();  // the run's buffers have other sizes
    return processes.of_first(best);
}

PlannedSeconds planned_seconds(const TrainOptions& options, const Estimate& sizes, double text_tokens,
                               double seconds_per_step) {
    constexpr double kEvaluated = 1.0 / 3, kWritten = 5;  // cost of a token, relative to training on it
    constexpr double kSaved = 300e6;                      // bytes per second
    constexpr double kSample = 200;                       // tokens
    const auto steps = static_cast<double>(options.max_iters);
    const double trained = seconds_per_step / static_cast<double>(options.tokens_per_step());  // per token
    const double val_tokens = options.val_fraction * text_tokens;
    const auto some = static_cast<double>(options.eval_iters * options.batch_size * options.block_size);
    const double evaluation = kEvaluated * trained * (some > 0 ? std::min(val_tokens, some) : val_tokens);
    const double checkpoint = sizes.checkpoint_bytes / kSaved, sample = kWritten * kSample * trained;
    // the last step always has one of each
    const auto times = [&](std::size_t every) { return every ? std::ceil(steps / static_cast<double>(every)) : 1; };
    const double evaluations = times(options.eval_every), at_start = options.eval_on_start ? 1 : 0;
    const double samples =
        times(options.sample_every) * std::max(1.0, static_cast<double>(options.sample_prompt.size()));
    const double training = steps * seconds_per_step;
    const double all = training + (at_start + evaluations) * evaluation +
                       (at_start + std::max(evaluations, times(options.save_every))) * checkpoint + samples * sample;
    if (options.max_time <= 0 || all <= options.max_time) return {training, all};
    return {training / all * options.max_time, options.max_time};
}

}  // namespace inkling::train

// What a run will take, estimated before it begins.
//   const Estimate e = estimate(options, architecture, tokens);
//   e.memory_bytes(), e.seconds_per_step()
#pragma once

#include <cstddef>

#include "models/architecture.h"
#include "train/settings/options.h"

namespace inkling::train {

// Floating-point operations of forward and backward over `tokens` tokens in windows of the whole context: 6 for each
// weight that is multiplied with, and causal attention, half of T x T.
double training_flops(const models::Architecture& architecture, double tokens);

// Of a whole step of a run; of what is frozen, no gradients.
double flops_per_step(const TrainOptions& options, const models::Architecture& architecture);

struct Estimate {
    std::size_t parameters = 0;  // adapters among them
    double trained = 0;          // of these: all, or the adapters
    double tokens_per_step = 0, flops_per_step = 0;
    double state_bytes = 0;       // parameters, gradients, the optimizer's state, the average of the weights
    double work_bytes = 0;        // estimated: activations, and what updates, evaluations and saving need for a while
    double text_bytes = 0;        // the tokens of the whole text
    double checkpoint_bytes = 0;  // on disk
    double flops_per_s = 0;       // measured

    double seconds_per_step() const { return flops_per_step / flops_per_s; }
    double memory_bytes() const { return kProgramBytes + state_bytes + work_bytes + text_bytes; }

    static constexpr double kProgramBytes = 15e6;  // of the program itself, the tokenizer, and all that is small
};

// Of a run with a model of this architecture: options.model_config(vocab_size), or that of --init-from. Speed and
// activations are measured with a few steps: of the model itself when it is small, else of a smaller one of the same
// kind. About a second's work and at most a few hundred MB, on as many threads as are set.
// Of several processes that train together, it is what each needs.
Estimate estimate(const TrainOptions& options, const models::Architecture& architecture, double text_tokens,
                  std::size_t processes = 1);

// What follows from the options alone: state, text and checkpoint.
void estimate_sizes(const TrainOptions& options, const models::Architecture& architecture, double text_tokens,
                    Estimate& result, std::size_t processes = 1);

// Throws Error, before anything is allocated, when a run cannot have the memory that estimate() gives.
void check_memory(const TrainOptions& options, const models::Architecture& architecture, double text_tokens);

}  // namespace inkling::train

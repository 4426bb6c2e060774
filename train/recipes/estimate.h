// Estimates memory and time of a run before it begins.
//   const Estimate e = estimate(options, architecture, tokens);
//   e.memory_bytes(), e.seconds_per_step()
#pragma once

#include <cstddef>
#include <string_view>

#include "models/architecture.h"
#include "train/settings/settings.h"

namespace inkling::train {

// The number of trained elements: of the adapters, or of the model.
double trained_count(const TrainOptions& options, const models::Architecture& architecture);
// Bytes of the model's weights if they are frozen; 0 if they are trained.
double frozen_bytes(const TrainOptions& options, const models::Architecture& architecture);
std::string_view frozen_type(const TrainOptions& options);  // their --base-precision, for messages

// Floating-point operations of forward and backward over `tokens` tokens in windows of the whole context: 6 per token
// for each weight of a product, plus causal attention, half of T x T.
double training_flops(const models::Architecture& architecture, double tokens);

// The same for a whole step of a run, without the gradients of frozen weights.
double flops_per_step(const TrainOptions& options, const models::Architecture& architecture);

struct Estimate {
    std::size_t parameters = 0;  // with adapters
    double trained = 0;          // all parameters, or only the adapters
    double tokens_per_step = 0, flops_per_step = 0;
    double state_bytes = 0;       // parameters, gradients, the optimizer's state, the average of the weights
    double work_bytes = 0;        // estimate: activations, and temporaries of updates, evaluations and saving
    double teacher_bytes = 0;     // the models of --teacher, and their predictions
    double text_bytes = 0;        // the tokens of the whole text
    double checkpoint_bytes = 0;  // on disk
    double flops_per_s = 0;       // measured

    double seconds_per_step() const { return flops_per_step / flops_per_s; }
    double memory_bytes() const { return kProgramBytes + state_bytes + work_bytes + teacher_bytes + text_bytes; }

    static constexpr double kProgramBytes = 15e6;  // the program itself, the tokenizer, and other small things
};

// Estimates a run with a model of this architecture: options.model_config(vocab_size), or that of --init-from. Measures
// speed and activations with a few steps of the model if it is small, else of a smaller one of the same kind. Takes
// about a second and at most a few hundred MB, with the current number of threads. For several processes, the estimate
// is per process.
Estimate estimate(const TrainOptions& options, const models::Architecture& architecture, double text_tokens,
                  std::size_t processes = 1);

// The sizes that follow from the options alone: state, text and checkpoint.
Estimate estimate_sizes(const TrainOptions& options, const models::Architecture& architecture, double text_tokens,
                        std::size_t processes = 1);

// Chooses --checkpoint-activations, if it is not given and a run that keeps them would take more memory than there is.
// Returns true if the run fits as it was; otherwise check_memory() decides.
bool fit_memory(Config& config, const models::Architecture& architecture, double text_tokens);

// Throws Error, before allocating anything, if the memory that estimate() gives is not available.
void check_memory(const TrainOptions& options, const models::Architecture& architecture, double text_tokens);

}  // namespace inkling::train

// What a run will take, told before it begins.
//   const Plan plan = make_plan(options, vocab_size);
//   plan.memory_bytes(), plan.seconds_a_step()
#pragma once

#include <cstddef>

#include "models/gpt_config.h"
#include "train/options.h"

namespace inkling::train {

// Floating-point operations of forward and backward over `tokens` tokens in windows of the whole context: 6 for each
// weight that is multiplied with, and causal attention, half of T x T.
double training_flops(const models::GPTConfig& config, double tokens);

struct Plan {
    std::size_t parameters = 0;
    double tokens_a_step = 0, flops_a_step = 0;
    double state_bytes = 0;       // parameters, gradients, the optimizer's state, averages
    double activation_bytes = 0;  // estimated
    double checkpoint_bytes = 0;  // on disk
    double flops_per_s = 0;       // measured

    double seconds_a_step() const { return flops_a_step / flops_per_s; }
    double memory_bytes() const { return state_bytes + activation_bytes; }
};

// Speed and activations are measured with a few steps of a smaller model of the same kind, about a second's work and at
// most a few hundred MB, on as many threads as are set.
Plan make_plan(const TrainOptions& options, std::size_t vocab_size);

}  // namespace inkling::train

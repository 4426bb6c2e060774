// The recipe "finetune" of `inkling train --init-from`: chooses rows, batch, learning rate and steps for an existing
// model, trained whole or by adapters, from the text's size and the time. docs/recipes.md gives the reasons.
//   TrainOptions o = recipe("finetune").options;
//   fit_tuning({.seconds = 60, .gflops = 900, .tokens = tokens.size()}, model.config, {}, o);
//   o.max_iters = tuning_steps(budget, fitting_steps, o);
//   fit_tuning_to_steps(budget, {}, o);
// Like those of recipes.h, these functions do not change settings that the user gave.
#pragma once

#include <set>
#include <string>

#include "models/architecture.h"
#include "train/recipes/recipes.h"

namespace inkling::train {

TrainOptions finetune_options(TrainOptions fast);

// Chooses rows, batch and learning rate.
void fit_tuning(const Budget& budget, const models::Architecture& model, const std::set<std::string>& given,
                TrainOptions& options);

// The number of steps to plan: those that fit into the time, with a limit on epochs for the size of the text; at
// least 1.
std::size_t tuning_steps(const Budget& budget, double fitting_steps, const TrainOptions& options);

// Chooses how often to evaluate, sample and log, when to stop, and how long to average weights.
void fit_tuning_to_steps(const Budget& budget, const std::set<std::string>& given, TrainOptions& options);

}  // namespace inkling::train

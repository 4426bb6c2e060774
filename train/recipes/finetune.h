// The recipe "finetune" of `inkling train --init-from`: rows, batch, learning rate and steps for a model that exists,
// whole or by adapters, from the text's size and the time. docs/recipes.md says why as it does.
//   TrainOptions o = recipe("finetune").options;
//   fit_tuning({.seconds = 60, .gflops = 900, .tokens = tokens.size()}, model.config, {}, o);
//   o.max_iters = tuning_steps(budget, fitting_steps, o);
//   fit_tuning_to_steps(budget, {}, o);
// As those of recipes.h, these functions leave alone the settings that the user gave.
#pragma once

#include <set>
#include <string>

#include "models/architecture.h"
#include "train/recipes/recipes.h"

namespace inkling::train {

TrainOptions finetune_options(TrainOptions fast);

// Rows, batch, and the learning rate.
void fit_tuning(const Budget& budget, const models::Architecture& model, const std::set<std::string>& given,
                TrainOptions& options);

// How many steps to plan: those that there is time for, but no more epochs than such a text bears; at least 1.
std::size_t tuning_steps(const Budget& budget, double fitting_steps, const TrainOptions& options);

// How often to evaluate, when to stop, how often to sample and log, and how long weights are averaged.
void fit_tuning_to_steps(const Budget& budget, const std::set<std::string>& given, TrainOptions& options);

}  // namespace inkling::train

// What a recipe chooses for a run: the settings with the trait kChosen (settings.h) that are not given. docs/recipes.md
// gives the reasons.
//   Config config{.options = recipe("fast").options, .fits = Fits::shape};
//   const Budget budget = fit_sizes({.tokens = tokens.size()}, nullptr, config);
//   fit_steps(budget, seconds_per_step, architecture, config);
//   fit_to_steps(budget, config);
#pragma once

#include <optional>

#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"
#include "train/settings/settings.h"

namespace inkling::train {

// The limits that a run is fitted to.
struct Budget {
    double seconds = 60;               // of training
    double gflops = 900;               // of matrix products on this machine, in the precision of the run
    std::size_t tokens = 0;            // of the text
    std::size_t vocabulary = 0;        // tokens of the tokenizer
    bool answers = false;              // the text is documents in lines, learned only in part
    std::size_t longest_document = 0;  // in tokens, if the text is documents in lines
    double operations = 0;             // of --max-flops, instead of seconds

    double flops() const;  // of a run
};

// Adapts settings to the given ones: heads to a width, rates to an optimizer, no time limit with steps or operations.
void fit_given(Config& config);

// Up to about this many bytes of text, characters reach at most the bits per byte of byte pairs. For longer texts byte
// pairs are better, and more of them the longer the text is (docs/recipes.md).
inline constexpr std::size_t kShortText = 150'000;

// Chooses the tokenizer of a new model for a text of this many bytes: characters for a short one, else byte pairs, more
// for a longer one. A given --vocab-size asks for byte pairs.
void fit_tokenizer(std::size_t bytes, Config& config);

// Chooses a new model's shape, the batch, dropout and all that depends on them.
void fit(const Budget& budget, Config& config);
// Chooses rows, batch and learning rate for an existing model, trained whole or by adapters.
void fit_tuning(const Budget& budget, const models::Architecture& model, Config& config);

// Calls one of the two, and chooses the precision; a `loaded` model keeps its shape. Without a time limit it reads no
// clock, so the same flags give the same run; with --max-flops they do on any machine. Returns the budget it used.
Budget fit_sizes(Budget budget, const models::Architecture* loaded, Config& config);

// The number of steps to plan: those that fit, with a limit on epochs, and a least number for a short text; at least 1.
std::size_t planned_steps(const Budget& budget, double fitting_steps, const Config& config);

// Plans more steps than fit by measurement: a plan that the clock stops costs less than one that ends early.
inline constexpr double kPlannedTime = 1.1;

// Chooses the number of steps, from --max-flops or by planned_steps, at most --max-iters.
void fit_steps(const Budget& budget, double seconds_per_step, const models::Architecture& model, Config& config);

// Chooses from the number of steps how often to evaluate, sample and log, when to stop, and how long to average
// weights.
void fit_to_steps(const Budget& budget, Config& config);

// Makes all choices, and times some steps on `tokens`. `loaded` is the model to start from, or null for a new one.
// Returns the measured seconds per step, 0 if it read no clock; nothing if the recipe fits nothing.
std::optional<double> fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, Budget budget,
                                 models::Transformer<float>* loaded, Config& config);

// Shared by fit.cpp and finetune.cpp.

double max_epochs(const Budget& budget, const Config& config);   // of the text in a run, at most
std::size_t whole_parts(double rows, std::size_t shards);        // a multiple of the shards, at least one row each
void fit_intervals(double evaluations, Config& config);          // `eval_every` etc. as parts of all steps, and `ema`
void fit_tuning_to_steps(const Budget& budget, Config& config);  // fit_to_steps for an existing model

}  // namespace inkling::train

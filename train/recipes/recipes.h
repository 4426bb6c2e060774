// The named settings of `inkling train --recipe`. "fast", the default, fits a small modern model to the text, the time
// and the machine; "stories" does so for the built-in corpus. docs/recipes.md gives the reasons.
//   TrainOptions o = recipe("fast").options;
//   fit({.seconds = 60, .gflops = 900, .tokens = tokens.size()}, true, {"n-layer"}, o);
#pragma once

#include <set>
#include <string>
#include <vector>

#include "train/settings/options.h"

namespace inkling::train {

struct Recipe {
    std::string name;
    TrainOptions options;
    bool fits_run = false;    // batch, dropout, rates and steps are fitted to the text, the time and the machine
    bool fits_shape = false;  // and the model's shape
    bool tunes = false;       // for an existing model: finetune.h
};

const std::vector<Recipe>& recipes();
std::vector<std::string> recipe_names();

// Throws Error, listing the known names, for an unknown one.
const Recipe& recipe(const std::string& name);

// The recipe of a run that names none.
const Recipe& default_recipe(bool built_in_corpus, bool model_exists = false);

// The limits that a run is fitted to.
struct Budget {
    double seconds = 60;               // of training
    double gflops = 900;               // of matrix products on this machine, in the precision of the run
    std::size_t tokens = 0;            // of the text
    bool answers = false;              // the text is documents in lines, learned only in part
    std::size_t longest_document = 0;  // in tokens, if the text is documents in lines
    double operations = 0;             // of --max-flops, instead of seconds

    double flops() const;  // of a run
};

// The functions below choose the settings with the trait kChosen (settings.h), except those that the user gave, whose
// names are in `given`.

// Sets those that the user did not give: choose("n-layer", o.n_layer, 2).
struct Choose {
    const std::set<std::string>& given;
    template <class Field, class Chosen>
    void operator()(const char* flag, Field& field, Chosen value) const {
        if (!given.contains(flag)) field = static_cast<Field>(value);
    }
};

// Adapts settings to the given ones: heads to a width, rates to an optimizer, no time limit with steps or operations.
void fit_given(const std::set<std::string>& given, TrainOptions& options);

// Up to about this many bytes of text, characters reach at most the bits per byte of byte pairs. For longer texts byte
// pairs are better, and more of them the longer the text is (docs/recipes.md).
inline constexpr std::size_t kShortText = 150'000;

// Chooses the tokenizer for a text of this many bytes: characters for a short one, else byte pairs, more for a longer
// one. A given --vocab-size asks for byte pairs.
void fit_tokenizer(std::size_t bytes, const std::set<std::string>& given, TrainOptions& options);

// Chooses the model's shape, if asked for, the batch, dropout and all that depends on them.
void fit(const Budget& budget, bool fit_shape, const std::set<std::string>& given, TrainOptions& options);

// Rounds the rows of a batch to a multiple of its parts, at least one row each.
std::size_t whole_parts(double rows, std::size_t shards);

// Plans more steps than fit by measurement: a plan that the clock stops costs less than one that ends early.
inline constexpr double kPlannedTime = 1.1;

inline constexpr double kMaxEpochs = 60, kMinSteps = 400;  // of the text at most; for even the shortest text
// The number of steps to plan: those that fit, at most `max_epochs` of the text, or `min_steps` of a short one; at
// least 1.
std::size_t planned_steps(const Budget& budget, double fitting_steps, const TrainOptions& options,
                          double max_epochs = kMaxEpochs, double min_steps = kMinSteps);

// `eval_every` etc. as parts of all steps, and how long weights are averaged.
void fit_intervals(double evaluations, const Choose& choose, TrainOptions& options);

// Chooses from the number of steps how often to evaluate, sample and log, and how long to average weights.
void fit_to_steps(const Budget& budget, const std::set<std::string>& given, TrainOptions& options);

}  // namespace inkling::train

// The named settings of `inkling train --recipe`. "fast", the default, fits a small modern model to the text, the time
// and the machine, and "stories" likewise to the built-in corpus; docs/recipes.md says why as they do.
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
    bool tunes = false;       // for a model that exists: finetune.h
};

const std::vector<Recipe>& recipes();
std::vector<std::string> recipe_names();

// Throws Error, with the names there are, for a name that is none.
const Recipe& recipe(const std::string& name);

// The one that is taken when none is named.
const Recipe& default_recipe(bool built_in_corpus, bool model_exists = false);

// What a run is fitted to.
struct Budget {
    double seconds = 60;               // of training
    double gflops = 900;               // that matrix products reach on this machine, in the precision of the run
    std::size_t tokens = 0;            // of the text
    bool answers = false;              // of documents in lines, of which not all is learned
    std::size_t longest_document = 0;  // in tokens, where the text is documents in lines
    double operations = 0;             // by --max-flops, instead of seconds

    double flops() const;  // of a run
};

// The functions below choose the settings with the trait kChosen (settings.h), and leave alone those that the user
// gave: `given` holds their names.

// What goes with the given settings: heads with a width, rates with an optimizer, no limit of time with steps or
// operations.
void fit_given(const std::set<std::string>& given, TrainOptions& options);

// In bits per byte, characters are as good as byte pairs or better up to about this many bytes of text; then byte pairs
// are, the more of them the longer the text (docs/recipes.md).
inline constexpr std::size_t kShortText = 150'000;

// The tokenizer, for a text of so many bytes: characters for a short one, else byte pairs, the more the longer it is.
// A given --vocab-size is one of byte pairs.
void fit_tokenizer(std::size_t bytes, const std::set<std::string>& given, TrainOptions& options);

// The model's shape, if asked for, the batch, dropout and what depends on them.
void fit(const Budget& budget, bool fit_shape, const std::set<std::string>& given, TrainOptions& options);

// The number of rows, at least one in each of the equal parts that a batch is cut into.
std::size_t whole_parts(double rows, std::size_t shards);

// More steps are planned than were measured to fit: a plan that the clock stops costs less than one that ends early.
inline constexpr double kPlannedTime = 1.1;

// How many steps to plan: those that fit, but none that would repeat the text without end; at least 1.
std::size_t planned_steps(const Budget& budget, double fitting_steps, const TrainOptions& options);

// What follows from the number of steps: how often to evaluate, sample and log, and how long weights are averaged.
void fit_to_steps(const Budget& budget, const std::set<std::string>& given, TrainOptions& options);

}  // namespace inkling::train

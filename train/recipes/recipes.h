// The named settings of `inkling train --recipe`. "fast", the default, fits a small modern model to the text, the time
// and the machine; "stories" does so for the built-in corpus. docs/recipes.md gives the reasons.
//   Config config{.options = recipe("fast").options, .fits = recipe("fast").fits};
#pragma once

#include <string>
#include <vector>

#include "train/settings/options.h"

namespace inkling::train {

struct Recipe {
    std::string name;
    TrainOptions options;
    Fits fits = Fits::nothing;
};

const std::vector<Recipe>& recipes();
std::vector<std::string> recipe_names();

// Throws WrongSetting, listing the known names, for an unknown one.
const Recipe& recipe(const std::string& name);

// The recipe of a run that names none.
const Recipe& default_recipe(bool built_in_corpus, bool model_exists = false);

}  // namespace inkling::train

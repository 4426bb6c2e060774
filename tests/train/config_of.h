// The settings of a recipe, with some that are given as flags, for tests.
//   train::Config c = config_of("fast", {"n-layer"});
//   c.options.n_layer = 9;
#pragma once

#include <string>
#include <vector>

#include "train/recipes/recipes.h"
#include "train/settings/settings.h"

namespace inkling::testing {

inline train::Config config_of(const std::string& recipe, const std::vector<std::string>& given = {}) {
    train::Config config{.options = train::recipe(recipe).options, .fits = train::recipe(recipe).fits};
    for (const std::string& name : given) config.given[name] = train::Config::Source::flag;
    return config;
}

// The same with options that are not the recipe's.
inline train::Config config_of(const std::string& recipe, const std::vector<std::string>& given,
                               const train::TrainOptions& options) {
    train::Config config = config_of(recipe, given);
    config.options = options;
    return config;
}

}  // namespace inkling::testing

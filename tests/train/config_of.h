// The settings of a recipe, with some that are given as flags, for tests.
//   train::Config c = config_of("fast", {"n-layer"});
//   c.options.n_layer = 9;
#pragma once

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

// Checks the settings that are named in the text of a config.toml:
//   check_settings(o, "n_layer = 2\nema = 0.9");
inline void check_settings(const train::TrainOptions& options, const std::string& toml) {
    const train::Config expected = train::parse_toml(toml, "expected");
    for (const train::Setting* const s : train::differing(expected.options, options)) {
        INFO(s->name << " is " << s->toml(options) << ", not " << s->toml(expected.options));
        CHECK_FALSE(expected.is_given(s->name));
    }
}

}  // namespace inkling::testing

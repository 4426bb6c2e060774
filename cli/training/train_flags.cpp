#include "cli/training/train_flags.h"

#include "cli/common.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/help.h"
#include "engine/base/names.h"
#include "train/recipes/recipes.h"

namespace inkling::cli {

TrainFlags::TrainFlags(CLI::App& app, const std::function<bool(const train::Setting&)>& takes, bool bare_data)
    : options_(train::default_recipe(true).options) {
    app.formatter(std::make_shared<Help>(names_of<train::Group>()));
    app.set_help_all_flag("--help-all", "explain every flag");
    for (const train::Setting& s : train::settings())
        if (takes(s)) flags_[s.name] = add_setting(app, s, options_, bare_data);
}

train::Config TrainFlags::config() const {
    train::Config config{.options = options_};
    for (const auto& [name, option] : flags_)
        if (option->count() > 0) config.given[name] = train::Config::Source::flag;
    return config;
}

std::map<std::string, std::vector<std::string>> TrainFlags::texts() const {
    std::map<std::string, std::vector<std::string>> all;
    for (const auto& [name, option] : flags_)
        if (option->count() > 0) all[name] = option->results();
    return all;
}

train::Config train_config(const std::map<std::string, std::vector<std::string>>& flags) {
    train::Config config;
    for (const auto& [name, texts] : flags) {
        std::vector<std::string> known;
        for (const train::Setting& s : train::settings()) {
            known.push_back("--" + s.name);
            if (s.name != name) continue;
            s.read(config.options, texts);
            config.given[name] = train::Config::Source::flag;
        }
        check<Usage>(config.is_given(name), "unknown flag --{}{}: see inkling train --help", name,
                     did_you_mean("--" + name, known));
    }
    return config;
}

}  // namespace inkling::cli

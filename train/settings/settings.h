// The list of settings, each declared once: name, default, help, group, whether a recipe chooses it, whether it may
// change on resume, and what completes it. Flags, config.toml, JSON, the manual, completion, Python's keywords and the
// check on resume read it. A new setting is a field of TrainOptions and a row in settings.cpp.
//   for (const Setting& s : settings()) print(s.name, s.text(options));
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/names.h"
#include "train/settings/options.h"

namespace inkling::train {

template <class T>
using Field = T TrainOptions::*;

// In text also 90s, 5m, 1h30m or 2d.
struct Duration {
    Field<double> seconds;
};

// A field of any enum that has names (engine/base/names.h).
struct Choice {
    std::string (*name)(const TrainOptions& options);
    void (*set)(TrainOptions& options, const std::string& flag, const std::string& name);  // throws WrongSetting
    std::vector<std::string> (*known)();
};

using AnyField = std::variant<Field<bool>, Field<std::uint64_t>, Field<double>, Duration, Field<std::string>,
                              Field<std::vector<std::string>>, Choice>;

// The parts of `train --help`.
enum class Group { text, model, time, optimizer, adapters, run };

constexpr auto names(Group) {
    return name_table<Group>({{Group::text, "Text"},
                              {Group::model, "Model"},
                              {Group::time, "Time"},
                              {Group::optimizer, "Optimizer"},
                              {Group::adapters, "Adapters"},
                              {Group::run, "Run"}});
}

enum Trait : unsigned {
    kUsual = 1,          // --help explains it; the others are explained by --help-all
    kChosen = 2,         // recipes choose it
    kMayChange = 4,      // may change on resume: the result does not depend on it, or the text's hash shows it
    kReadsText = 8,      // how to read a text; eval and tokenize have it, too
    kOneStart = 16,      // for one start of the program; not in a run's config.toml
    kEachProcess = 32,   // may differ between processes that train together
    kTakesFile = 64,     // a path of a file or a folder
    kTakesFolder = 128,  // a path of a folder
    kCommand = 256,      // says how the command runs; neither in config.toml nor in settings_json
};

struct Setting {
    std::string name;  // n-layer: --n-layer, and n_layer in config.toml, JSON and Python
    AnyField field;
    Group group;
    unsigned traits;
    std::string help;
    std::string value = {};               // its name in --help, DIR; by default from the type
    std::vector<std::string> words = {};  // known values; others are allowed. A word for a number means 0

    bool is(Trait trait) const { return (traits & trait) != 0; }
    std::string key() const;                              // n_layer
    std::string text(const TrainOptions& options) const;  // the value
    std::string toml(const TrainOptions& options) const;  // as in config.toml
    nlohmann::ordered_json json(const TrainOptions& options) const;
    const char* kind() const;  // "a whole number of at least 0"
    // Sets it to a value such as json() gives; false: the value is of another kind. Throws WrongSetting for an unknown
    // name.
    bool set(TrainOptions& options, const nlohmann::ordered_json& value) const;
    // Reads the value from the command line's texts; the last one counts, unless the value is a list. Throws
    // WrongSetting.
    void read(TrainOptions& options, const std::vector<std::string>& texts) const;
};

const std::vector<Setting>& settings();

// The settings whose values differ.
std::vector<const Setting*> differing(const TrainOptions& a, const TrainOptions& b);

// All values, and the source of each.
struct Config {
    enum class Source { file, flag };

    TrainOptions options = {};
    std::map<std::string, Source> given = {};  // by name; the recipe chooses the others, or they have their default
    Fits fits = Fits::nothing;                 // what the recipe chooses for the run

    bool is_given(const std::string& name) const { return given.contains(name); }
    bool is_flag(const std::string& name) const { return is_given(name) && given.at(name) == Source::flag; }

    // Takes the settings that are not given here from `under`, except those of one start; they count as
    // given if they are given there.
    void fill(const Config& under);

    // Sets a field that is not given: choose("n-layer", options.n_layer, 2).
    template <class T, class Chosen>
    void choose(const char* name, T& field, Chosen value) const {
        if (!is_given(name)) field = static_cast<T>(value);
    }
};

// Reads a config.toml. Ignores settings of one start, which older versions wrote, and, if allowed, `unknown` keys.
// Throws BadInput for unknown keys and values of the wrong type, and WrongSetting for an unknown name.
enum class UnknownKeys { refused, passed_over };
Config read_toml(const std::filesystem::path& path);
Config parse_toml(const std::string& text, const std::string& what, UnknownKeys unknown = UnknownKeys::refused);
// All settings except those of one start, and the plan if it changed or may change.
std::string to_toml(const TrainOptions& options);
nlohmann::ordered_json settings_json(const TrainOptions& options);

}  // namespace inkling::train

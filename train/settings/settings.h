// The list of settings, each declared once: name, default, help, group, whether a recipe chooses it, whether it may
// change on resume, and what completes it. Flags, config.toml, JSON, the manual, completion, Python's keywords and the
// check on resume read it. A new setting is a field of TrainOptions and a row in settings.cpp.
//   TrainOptions options;
//   for (const Setting& s : settings(options)) print(s.name, s.text());
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/names.h"
#include "train/settings/options.h"

namespace inkling::train {

// A value of any enum that has names (engine/base/names.h).
class Choice {
  public:
    template <class E>
    requires std::is_enum_v<E> Choice(E* value)
        : value_(value),
          get_([](const void* v) -> std::string { return name_of(*static_cast<const E*>(v)); }),
          set_([](void* v, const std::string& what, const std::string& name) {
              *static_cast<E*>(v) = named<E>(what, name);
          }),
          known_(&names_of<E>) {}

    std::string text() const { return get_(value_); }
    void read(const std::string& what, const std::string& name) const { set_(value_, what, name); }
    std::vector<std::string> known() const { return known_(); }

  private:
    void* value_;
    std::string (*get_)(const void*);
    void (*set_)(void*, const std::string&, const std::string&);
    std::vector<std::string> (*known_)();
};

// In text also 90s, 5m, 1h30m or 2d.
struct Duration {
    double* seconds;
};

using Value = std::variant<bool*, std::uint64_t*, double*, Duration, std::string*, std::vector<std::string>*, Choice>;

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
};

struct Setting {
    std::string name;  // n-layer: --n-layer, and n_layer in config.toml, JSON and Python
    Value value;
    Group group;
    unsigned traits;
    std::string help;
    std::vector<std::string> words = {};  // known values; others are allowed

    bool is(Trait trait) const { return (traits & trait) != 0; }
    std::string key() const;   // n_layer
    std::string text() const;  // the value
    std::string toml() const;  // as in config.toml
    nlohmann::ordered_json json() const;
    const char* kind() const;  // "a whole number of at least 0"
    // Sets it to a value such as json() gives; false: the value is of another kind. Throws Error, naming the flag, for
    // an unknown name.
    bool set(const nlohmann::ordered_json& value) const;
    // Reads the value from the command line's texts; the last one counts, unless the value is a list. Throws Error,
    // naming the flag.
    void read(const std::vector<std::string>& texts) const;
};

std::vector<Setting> settings(TrainOptions& options);  // bound to the fields of `options`

// The pairs of settings whose values differ.
std::vector<std::pair<Setting, Setting>> differing(TrainOptions& a, TrainOptions& b);

// Reads a config.toml into `options`, and returns the names of its settings. Ignores settings of one start, which older
// versions wrote, and, if allowed, `unknown` keys. Throws BadInput for unknown keys and values of the wrong type, and
// Error, naming the flag, for an unknown name.
enum class UnknownKeys { refused, passed_over };
std::set<std::string> read_toml(const std::filesystem::path& path, TrainOptions& options);
std::set<std::string> parse_toml(const std::string& text, const std::string& what, TrainOptions& options,
                                 UnknownKeys unknown = UnknownKeys::refused);
// All settings except those of one start, and the plan if it changed or may change.
std::string to_toml(TrainOptions options);
nlohmann::ordered_json settings_json(TrainOptions options);

}  // namespace inkling::train

#include "cli/usage/flag_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/usage/help.h"

namespace inkling::cli {

namespace {

constexpr std::string_view kMark = "one of ";

}  // namespace

CLI::Validator with_names(CLI::Validator check, const std::vector<std::string>& names) {
    const auto takes = [&](const char* kind) { return std::find(names.begin(), names.end(), kind) != names.end(); };
    check.name(fmt::format("{}{}", kMark, fmt::join(names, " ")));
    check.description(takes(kFiles) ? "FILE" : takes(kFolders) ? "DIR" : "NAME");
    return check;
}

CLI::Option* offer(CLI::Option& option, const std::vector<std::string>& names) {
    return option.check(with_names(CLI::Validator(), names));
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0 && option.get_type_size() > 0; }

std::vector<std::string> values_of(CLI::Option& option) {
    std::vector<std::string> values;
    try {
        for (int i = 0;; ++i) {
            const std::string name = option.get_validator(i)->get_name();
            if (!name.starts_with(kMark)) continue;
            std::istringstream words(name.substr(kMark.size()));
            for (std::string word; words >> word;) values.push_back(word);
        }
    } catch (const CLI::OptionNotFound&) {  // no more checks
    }
    return values;
}

namespace {

using train::Field;
using train::Setting;
using train::TrainOptions;

template <class T>
bool holds(const Setting& s) {
    return std::holds_alternative<Field<T>>(s.field);
}

CLI::Option* add_switch(CLI::App& app, const Setting& s, TrainOptions& options) {
    bool& value = options.*std::get<Field<bool>>(s.field);
    return app.add_flag(fmt::format("--{0},!--no-{0}", s.name), value, s.help)->default_str(value ? kOn : "");
}

CLI::Option* add_value(CLI::App& app, const Setting& s, TrainOptions& options, bool bare_data) {
    const bool list = holds<std::vector<std::string>>(s), several = s.name == "data" && bare_data;
    const auto read = [&s, &options](const std::vector<std::string>& texts) { s.read(options, texts); };
    CLI::Option* const option = app.add_option_function<std::vector<std::string>>(
                                       fmt::format("--{}{}", s.name, several ? ",data" : ""), read, s.help)
                                    ->default_str(s.text(options))
                                    ->type_name(!s.value.empty()                                   ? s.value
                                                : holds<std::uint64_t>(s)                          ? "N"
                                                : holds<double>(s)                                 ? "X"
                                                : std::holds_alternative<train::Duration>(s.field) ? "DURATION"
                                                                                                   : "TEXT");
    if (several)
        option->take_all()->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
    else
        option->expected(1)->allow_extra_args(false);
    if (list) return several ? option : option->take_all();
    return option->check([read](const std::string& text) { return read({text}), std::string(); });  // checks each value
}

}  // namespace

CLI::Option* add_setting(CLI::App& app, const Setting& s, TrainOptions& options, bool bare_data) {
    CLI::Option* const option = holds<bool>(s) ? add_switch(app, s, options) : add_value(app, s, options, bare_data);
    if (s.is(train::kChosen)) option->default_str(kByRecipe);
    option->group(name_of(s.group) + std::string(s.is(train::kUsual) ? "" : kRare));
    std::vector<std::string> words = s.words;
    if (const auto* const choice = std::get_if<train::Choice>(&s.field)) words = choice->known();
    if (s.is(train::kTakesFile)) words.push_back(kFiles);
    if (s.is(train::kTakesFolder)) words.push_back(kFolders);
    if (!words.empty()) offer(*option, words);
    return option;
}

}  // namespace inkling::cli

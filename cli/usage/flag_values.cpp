#include "cli/usage/flag_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace inkling::cli {
namespace {

constexpr std::string_view kMark = "one of ";

// By the flag, as the same one means the same in each command.
constexpr std::array kFiles = {"data", "config", "prompt-file",  "file",     "tokenizer",
                               "out",  "model",  "api-key-file", "init-from"};
constexpr std::array kFolders = {"adapter", "init-adapter", "resume", "runs", "run"};

bool has_name(const CLI::Option& option, const char* name) {
    return option.check_lname(name) || (option.get_positional() && option.get_name(true) == name);
}

}  // namespace

CLI::Validator with_names(CLI::Validator check, const std::vector<std::string>& names) {
    check.name(fmt::format("{}{}", kMark, fmt::join(names, " ")));
    return check;
}

void offer(CLI::Option& option, const std::vector<std::string>& names) {
    option.check(with_names(CLI::Validator(), names));
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0 && option.get_type_size() > 0; }

FlagValues values_of(CLI::Option& option) {
    FlagValues values;
    const auto among = [&](const auto& flags) {
        return std::any_of(flags.begin(), flags.end(), [&](const char* flag) { return has_name(option, flag); });
    };
    values.files = among(kFiles);
    values.folders = !values.files && among(kFolders);
    try {
        for (int i = 0;; ++i) {
            const std::string name = option.get_validator(i)->get_name();
            if (!name.starts_with(kMark)) continue;
            std::istringstream words(name.substr(kMark.size()));
            for (std::string word; words >> word;) values.names.push_back(word);
        }
    } catch (const CLI::OptionNotFound&) {  // there are no more checks
    }
    return values;
}

}  // namespace inkling::cli

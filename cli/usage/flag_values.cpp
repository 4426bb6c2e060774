#include "cli/usage/flag_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

namespace inkling::cli {
namespace {

constexpr std::string_view kMark = "one of ";

}  // namespace

CLI::Validator with_names(CLI::Validator check, const std::vector<std::string>& names) {
    check.name(fmt::format("{}{}", kMark, fmt::join(names, " ")));
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

}  // namespace inkling::cli

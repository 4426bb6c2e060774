// The values of a flag, for completion in a shell and for their name in --help: known names (NAME), files (FILE),
// folders (DIR). They are stored as the name and description of one of the flag's checks, because CLI11 has no other
// place for them.
//   app.add_option("--precision", p)->check(refuse_other_than({"fp32", "bf16"}));   // only these
//   offer(*app.add_option("--tokenizer", t), {"char", "bpe", kFiles});              // these or others, here files
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/common.h"
#include "train/settings/settings.h"

namespace inkling::cli {

inline constexpr const char *kFiles = ":file", *kFolders = ":directory";  // files include folders

std::vector<std::string> values_of(CLI::Option& option);

CLI::Option* offer(CLI::Option& option, const std::vector<std::string>& names);

CLI::Validator with_names(CLI::Validator check, const std::vector<std::string>& names);

bool takes_value(const CLI::Option& option);  // false for a flag such as --json

// Adds the flag of a setting (train/settings/settings.h). Its default in --help is the value that it has now in
// `options`, which must outlive the app. `bare_data`: --data may stand without its name.
CLI::Option* add_setting(CLI::App& app, const train::Setting& setting, train::TrainOptions& options,
                         bool bare_data = true);

}  // namespace inkling::cli

// Flags made from the list of settings (train/settings.h).
//   for (const train::Setting& s : train::settings(options)) add_setting(app, s);
#pragma once

#include <CLI/CLI.hpp>

#include "cli/common.h"
#include "train/settings.h"

namespace inkling::cli {

// `setting` must stay bound. Its default in --help is the value that it has now.
CLI::Option* add_setting(CLI::App& app, const train::Setting& setting);

}  // namespace inkling::cli

// Flags made from the list of settings (train/settings/settings.h).
//   for (const train::Setting& s : train::settings(options)) add_setting(app, s);
#pragma once

#include <CLI/CLI.hpp>

#include "cli/common.h"
#include "train/settings/settings.h"

namespace inkling::cli {

// `setting` must stay bound. Its default in --help is the value that it has now. `bare_data`: --data may stand without
// its name.
CLI::Option* add_setting(CLI::App& app, const train::Setting& setting, bool bare_data = true);

}  // namespace inkling::cli

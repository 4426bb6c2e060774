// Adds --data, as a flag or a positional argument, and the flags that say how to read it, to a command that reads text.
#pragma once

#include "cli/common.h"
#include "data/text/corpus.h"
#include "train/settings/options.h"

namespace inkling::cli {

using DataArguments = train::TrainOptions;  // only the settings that describe the text are used

// Returns --data.
CLI::Option* add_data_flags(CLI::App& app, DataArguments& args);

// Reports on stderr what was skipped or replaced.
data::Corpus read_data(const DataArguments& args);

}  // namespace inkling::cli

// --data, which may also stand without its name, and the flags that say how it is read: of the commands that read text.
#pragma once

#include "cli/common.h"
#include "data/corpus.h"
#include "train/settings/options.h"

namespace inkling::cli {

using DataArguments = train::TrainOptions;  // of which those settings are read that say what the text is

// Returns --data.
CLI::Option* add_data_flags(CLI::App& app, DataArguments& args);

// Says on stderr what was left out or replaced.
data::Corpus read_data(const DataArguments& args);

}  // namespace inkling::cli

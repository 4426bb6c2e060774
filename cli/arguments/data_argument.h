// --data, which may also stand without its name, and the flags that say how it is read: of the commands that read text.
#pragma once

#include "cli/common.h"
#include "data/corpus.h"

namespace inkling::cli {

struct DataArguments {
    std::vector<std::string> data;
    data::CorpusOptions options;
};

// Returns --data.
CLI::Option* add_data_flags(CLI::App& app, DataArguments& args);

// An option that takes several values, as --data takes: `--data a.txt b.txt --data c.txt d.txt`.
void take_several(CLI::Option& option);

// Says on stderr what was left out or replaced.
data::Corpus read_data(const DataArguments& args);

}  // namespace inkling::cli

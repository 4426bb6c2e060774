// The text of --prompt or --prompt-file.
#pragma once

#include <string>

#include "cli/common.h"
#include "data/text/corpus.h"
#include "train/settings/options.h"

namespace inkling::cli {

struct PromptText {
    std::string text;
    std::string source;  // for messages: the file, "standard input", "--prompt"
};

// Throws BadInput if the text is not UTF-8.
void check_utf8(const PromptText& prompt);

// `file`: "-" is standard input; if it is empty, `prompt` is the text.
PromptText read_prompt(const std::string& prompt, const std::string& file);

// Warns on stderr if stdin holds text that no flag asks for. The text is not read. With a prompt there is no warning
// for a file: it is likely the input of a shell loop.
void advise_on_input(bool prompt_given);

// Adds --data, as a flag or a positional argument, and the flags that say how to read it, to a command that reads text.

using DataArguments = train::TrainOptions;  // only the settings that describe the text are used

// Returns --data.
CLI::Option* add_data_flags(CLI::App& app, DataArguments& args);

// Reports on stderr what was skipped or replaced.
data::Corpus read_data(const DataArguments& args);

}  // namespace inkling::cli

// The text of --prompt, or of --prompt-file.
#pragma once

#include <string>

namespace inkling::cli {

struct PromptText {
    std::string text;
    std::string source;  // for messages: the file, "standard input", "--prompt"
};

// `file`: "": `prompt` is the text itself; "-": standard input.
PromptText read_prompt(const std::string& prompt, const std::string& file);

}  // namespace inkling::cli

// The text of --prompt or --prompt-file.
#pragma once

#include <string>

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

}  // namespace inkling::cli

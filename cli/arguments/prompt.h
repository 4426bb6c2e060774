// The text of --prompt, or of --prompt-file.
#pragma once

#include <string>

namespace inkling::cli {

struct PromptText {
    std::string text;
    std::string source;  // for messages: the file, "standard input", "--prompt"
};

// Throws BadInput when the text is not UTF-8.
void check_utf8(const PromptText& prompt);

// `file`: "": `prompt` is the text itself; "-": standard input.
PromptText read_prompt(const std::string& prompt, const std::string& file);

// A line on stderr when somebody has sent text to stdin that no flag names: it is neither read nor waited for. With a
// prompt a file there is more likely a loop's.
void advise_on_input(bool prompt_given);

}  // namespace inkling::cli

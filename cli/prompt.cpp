#include "cli/prompt.h"

#include "data/file.h"
#include "data/text_source.h"

namespace inkling::cli {

PromptText read_prompt(const std::string& prompt, const std::string& file) {
    if (file.empty()) return {prompt, "--prompt"};
    if (file == "-") return {data::read_standard_input(data::FileKind::prompt), "standard input"};
    return {data::read_file(file, data::FileKind::prompt), file};
}

}  // namespace inkling::cli

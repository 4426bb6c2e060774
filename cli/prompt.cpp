#include "cli/prompt.h"

#include "data/text_source.h"
#include "formats/file.h"

namespace inkling::cli {

PromptText read_prompt(const std::string& prompt, const std::string& file) {
    if (file.empty()) return {prompt, "--prompt"};
    if (file == "-") return {data::read_standard_input(formats::FileKind::prompt), "standard input"};
    return {formats::read_file(file, formats::FileKind::prompt), file};
}

}  // namespace inkling::cli

// What the ways of writing text share: all at once, and line by line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/written_text.h"

namespace inkling::cli {

struct WritingOptions {
    models::GenerateOptions options;
    std::vector<std::string> stops;
    std::size_t logprobs = 0;
    bool json = false, no_prompt = false;
};

// A text begins where another ends, if training showed that, else after a line's end; a model that knows neither begins
// with its first token.
std::vector<std::int32_t> beginning(const data::Tokenizer& tokenizer, const models::Architecture& config);

// --interactive: continues `prompt`, if there is one, and then each line of stdin. Returns the exit code.
int write_interactively(std::shared_ptr<const models::Decoder> decoder, const data::Tokenizer& tokenizer,
                        const std::string& prompt, const WritingOptions& writing);

}  // namespace inkling::cli

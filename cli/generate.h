// What the ways of writing text share: all at once, and line by line.
#pragma once

#include <string>

#include "generate/writer.h"

namespace inkling::cli {

struct WritingOptions {
    generate::GenerateOptions options;
    bool json = false, no_prompt = false;
};

// Writes `text`, one of `batch`, to its end or up to a signal, and prints it as it comes; with --json, then, with the
// `prompt` that it continues.
void print_text(generate::Writer& text, std::span<generate::Writer* const> batch, const data::Tokenizer& tokenizer,
                const std::string& prompt, const WritingOptions& writing);

// --interactive: continues `prompt`, if there is one, which `text` has already, and then each line of stdin. Returns
// the exit code.
int write_interactively(generate::Writer text, const std::shared_ptr<const models::Decoder>& decoder,
                        data::Tokenizer& tokenizer, const std::string& prompt, const WritingOptions& writing);

}  // namespace inkling::cli

// Shared by the two forms of generation: one text, or one per line (--interactive).
#pragma once

#include <string>

#include "cli/common.h"
#include "generate/sequence.h"

namespace inkling::cli {

struct WritingOptions {
    generate::GenerateOptions options;
    bool json = false, no_prompt = false;
};

// Generates `text`, one of `batch`, to its end or up to a signal, and prints it as it is made; with --json, at its end,
// together with the `prompt`.
void print_text(generate::Sequence& text, std::span<generate::Sequence* const> batch, const data::Tokenizer& tokenizer,
                const std::string& prompt, const WritingOptions& writing);

// Adds the sampling flags, except --seed. Returns the flag for the number of tokens.
CLI::Option* add_sampling_flags(CLI::App& app, generate::GenerateOptions& options);

// Throws Usage.
void check_options(const generate::GenerateOptions& options);

// --interactive: continues `prompt`, if any, which `text` holds already, and then each line of stdin. Returns the exit
// code.
int write_interactively(generate::Sequence text, const std::shared_ptr<const models::InferenceModel>& inference,
                        data::Tokenizer& tokenizer, const std::string& prompt, const WritingOptions& writing);

}  // namespace inkling::cli

// What the ways of writing text share: all at once, and line by line.
#pragma once

#include <string>

#include "cli/common.h"
#include "generate/sequence.h"

namespace inkling::cli {

struct WritingOptions {
    generate::GenerateOptions options;
    bool json = false, no_prompt = false;
};

// Writes `text`, one of `batch`, to its end or up to a signal, and prints it as it comes; with --json, then, with the
// `prompt` that it continues.
void print_text(generate::Sequence& text, std::span<generate::Sequence* const> batch, const data::Tokenizer& tokenizer,
                const std::string& prompt, const WritingOptions& writing);

// The flags of sampling, but for the seed's. Returns that of the number of tokens.
CLI::Option* add_sampling_flags(CLI::App& app, generate::GenerateOptions& options);

// --precision and --quantize: how the weights are kept.
struct WeightFlags {
    std::string precision = "fp32", quantize = {};
    WeightType type() const;
};
void add_weight_flags(CLI::App& app, WeightFlags& flags);

// Throws Usage.
void check_options(const generate::GenerateOptions& options);

// --interactive: continues `prompt`, if there is one, which `text` has already, and then each line of stdin. Returns
// the exit code.
int write_interactively(generate::Sequence text, const std::shared_ptr<const models::InferenceModel>& inference,
                        data::Tokenizer& tokenizer, const std::string& prompt, const WritingOptions& writing);

}  // namespace inkling::cli

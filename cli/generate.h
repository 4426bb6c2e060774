// Sampling flags, shared by generate and chat.
#pragma once

#include <string>

#include "cli/common.h"
#include "generate/sequence.h"

namespace inkling::cli {

// Adds the sampling flags, except --seed. Returns the flag for the number of tokens.
CLI::Option* add_sampling_flags(CLI::App& app, generate::GenerateOptions& options);

// Throws Usage.
void check_options(const generate::GenerateOptions& options);

}  // namespace inkling::cli

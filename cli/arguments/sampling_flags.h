// The flags of commands that write text: how the next token is chosen.
#pragma once

#include <CLI/CLI.hpp>

#include "generate/sequence.h"

namespace inkling::cli {

// The sampling flags of generate and chat. Their defaults are in `options`; without --seed each start has another.
void add_sampling_flags(CLI::App& app, generate::GenerateOptions& options);

}  // namespace inkling::cli

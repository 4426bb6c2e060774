// The --model and --adapter of a command that reads a model, while a training run may be replacing them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "models/folder.h"

namespace inkling::cli {

struct ModelArgument {
    std::string model, adapter;
    const std::string& name() const { return adapter.empty() ? model : adapter; }  // of what is read
};

// --model and --adapter, of which one is required.
void add_model_flags(CLI::App& app, ModelArgument& argument);
inline constexpr const char* kAdapterHelp =
    "low-rank adapter of the model: its folder, PEFT's too, or that of a run; without --model, of the model it names";

// Files of one and the same state of the folder: when they are replaced while they are read, they are read again. An
// adapter is part of the model that is returned, beside its weights.
models::LoadedModel load_current(const std::string& path, models::Kept kept = models::Kept::fp32);
models::LoadedModel load_current(const ModelArgument& argument, models::Kept kept = models::Kept::fp32);

}  // namespace inkling::cli

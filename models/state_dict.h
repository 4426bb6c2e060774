// A module's parameters from and to a safetensors file, by name: a state dict of the same module in PyTorch, saved with
// safetensors, loads as it is.
#pragma once

#include <filesystem>

#include "nn/module.h"

namespace inkling::models {

// Throws BadInput, naming all of them, for parameters that are missing, left over or of another shape.
template <class T>
void load_state_dict(nn::Module<T>& module, const std::filesystem::path& path);
template <class T>
void save_state_dict(nn::Module<T>& module, const std::filesystem::path& path);

}  // namespace inkling::models

// Saves a module's parameters to a safetensors file and loads them by name. A state dict of the same module in PyTorch,
// saved with safetensors, loads directly; its buffers, such as the mask of CausalAttention, are skipped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/module.h"

namespace inkling::models {

// Names on one side only.
struct Unmatched {
    std::vector<std::string> missing;     // parameters missing in the file, which keep their values
    std::vector<std::string> unexpected;  // tensors that the module does not have
};

enum class Match { all, some };

// Throws BadInput, naming all of them, for parameters of another shape and, unless a part is enough, for unmatched
// names. Then nothing is read.
template <class T>
Unmatched load_state_dict(nn::Module<T>& module, const std::filesystem::path& path, Match match = Match::all);
template <class T>
void save_state_dict(nn::Module<T>& module, const std::filesystem::path& path);

}  // namespace inkling::models

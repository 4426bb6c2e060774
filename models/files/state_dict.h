// A module's parameters from and to a safetensors file, by name: a state dict of the same module in PyTorch, saved with
// safetensors, loads as it is. Buffers that it holds beside them, such as the mask of CausalAttention, are passed over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/module.h"

namespace inkling::models {

// Names that only one side has.
struct Unmatched {
    std::vector<std::string> missing;     // parameters that the file does not hold: they keep their values
    std::vector<std::string> unexpected;  // tensors of the file that the module does not know
};

enum class Match { all, some };

// Throws BadInput, naming all of them, for parameters of another shape and, unless some are enough, for what is
// unmatched. Nothing is read then.
template <class T>
Unmatched load_state_dict(nn::Module<T>& module, const std::filesystem::path& path, Match match = Match::all);
template <class T>
void save_state_dict(nn::Module<T>& module, const std::filesystem::path& path);

}  // namespace inkling::models

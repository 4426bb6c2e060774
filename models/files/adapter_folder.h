// The folder of a low-rank adapter in the format of Hugging Face's PEFT: adapter_config.json and
// adapter_model.safetensors. It holds the adapter only; its base model is in another folder.
//   LoadedModel loaded = load_model(base);
//   load_adapter(folder, *loaded.model);              // load_model(folder) does both
//   save_adapter(folder, *loaded.model, *loaded.tokenizer);
#pragma once

#include <filesystem>

#include "data/tokenizers/tokenizer.h"
#include "formats/sha256.h"
#include "models/transformer.h"

namespace inkling::models {

bool is_adapter(const std::filesystem::path& folder);  // and not a model's folder
// The folder of the adapter that a flag names, as find_model() finds it. Throws BadInput, naming the flag, for a model.
std::filesystem::path find_adapter(const std::string& flag, const std::filesystem::path& path);

// Reads adapter_config.json. Throws BadInput for anything but a LoRA of a causal language model, and, by name, for
// unsupported keys that would change the result.
AdapterOptions read_adapter_config(const std::filesystem::path& folder);

// The base model's folder by adapter_config.json, relative to the current folder or else to the adapter's. Throws
// BadInput if it does not exist. Returns a path that is not an adapter unchanged.
std::filesystem::path base_of_adapter(const std::filesystem::path& folder);

// The paths that load_model(path) reads: the model's folder or files, and for an adapter those of its base model.
std::vector<std::filesystem::path> model_parts(const std::filesystem::path& path);

// Replaces the model's adapters by those of a folder and freezes everything else. Throws BadInput, naming all tensors
// that do not fit the model.
void load_adapter(const std::filesystem::path& folder, Transformer<float>& model);

// The parameters that an adapter's folder adds to a model, by the headers of its files.
struct AdapterHeader {
    AdapterOptions options = {};   // rank 0: no adapter
    ParameterFilter adapted = {};  // weights that have matrices of their own
    std::uint64_t parameters = 0;  // of these matrices
};
// Unties the config's head where load_adapter does so. Throws BadInput for tensors that do not fit the model.
AdapterHeader read_adapter_header(const std::filesystem::path& folder, Architecture& config);

// Writes the model's adapters, as float32, and the tokenizer's files into an existing folder.
void save_adapter(const std::filesystem::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                  formats::Sha256* hash = nullptr);

}  // namespace inkling::models

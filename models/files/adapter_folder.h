// The folder of a low-rank adapter, as Hugging Face's PEFT reads and writes it: adapter_config.json and
// adapter_model.safetensors. It holds the adapter alone: the model that it belongs to is in another folder.
//   LoadedModel loaded = load_model(base);
//   load_adapter(folder, *loaded.model);              // load_model(folder) does both
//   save_adapter(folder, *loaded.model, *loaded.tokenizer);
#pragma once

#include <filesystem>

#include "data/tokenizers/tokenizer.h"
#include "models/transformer.h"

namespace inkling::models {

bool is_adapter(const std::filesystem::path& folder);  // and not a model's folder

// What adapter_config.json says. Throws BadInput for what is not a LoRA of a causal language model, and, by their
// names, for keys that would change the result and are not known here.
AdapterOptions read_adapter_config(const std::filesystem::path& folder);

// The folder of the model that an adapter belongs to, by its adapter_config.json: as it stands there, from where the
// program runs or else from the adapter's folder. Throws BadInput when there is none.
std::filesystem::path base_of_adapter(const std::filesystem::path& folder);

// Gives the model the adapters of a folder in place of its own; all else is frozen. Throws BadInput, naming all tensors
// that do not fit the model.
void load_adapter(const std::filesystem::path& folder, Transformer<float>& model);

// Writes the model's adapters, as float32, and the tokenizer's files into an existing folder.
void save_adapter(const std::filesystem::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer);

}  // namespace inkling::models

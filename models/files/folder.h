// Model folders, as Hugging Face's transformers reads and writes them: config.json, generation_config.json,
// model.safetensors (or shards of it), tokenizer.json, tokenizer_config.json. Linear weights of GPT-2 are stored
// (in, out) there, ours are (out, in): they are turned on the way. Wherever a model's folder is named, a GGUF file may
// be (gguf_export.h writes them): its path is the folder's.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "data/tokenizers/tokenizer.h"
#include "formats/safetensors/safetensors.h"
#include "models/transformer.h"

namespace inkling::models {

struct LoadedModel {
    std::unique_ptr<Transformer<float>> model;
    std::unique_ptr<data::Tokenizer> tokenizer;
};

// Reads a model folder, or that of an adapter and the model that it belongs to (adapter_folder.h). Throws BadInput,
// naming the file, for anything that is missing or does not fit; of wrong weights, all are named at once. The model is
// in evaluation mode; `dropout` takes the place of config.json's. Matrices are packed one by one as they are read.
LoadedModel load_model(const std::filesystem::path& folder, std::optional<double> dropout = std::nullopt,
                       WeightStorage storage = {});
Architecture load_config(const std::filesystem::path& folder);

// Writes the files into an existing folder, each in one step. The weights are stored as `type`: F32, F16 or BF16,
// rounded to nearest.
void save_model(const std::filesystem::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                formats::DType type = formats::DType::F32);

// The part of it that is about the tokenizer: tokenizer.json, tokenizer_config.json.
void save_tokenizer(const std::filesystem::path& folder, const Architecture& config, const data::Tokenizer& tokenizer);

bool holds_model(const std::filesystem::path& path);  // or an adapter, or is one, and not the folder of a run

// OUT of a run means OUT/best, else OUT/latest; the folder of a model or an adapter, and a GGUF file, mean themselves.
// Throws BadInput when there is none of these.
std::filesystem::path find_model(const std::filesystem::path& path);

// For messages, where there is no such path and it may be a name of the Hugging Face Hub: how to get it; else "".
std::string how_to_get(const std::filesystem::path& path);

// Of a tokenizer.json, a folder with one, a run, whose best checkpoint has one, or a GGUF file.
std::unique_ptr<data::Tokenizer> open_tokenizer(const std::filesystem::path& path);

}  // namespace inkling::models

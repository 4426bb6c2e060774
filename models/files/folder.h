// Model folders, as Hugging Face's transformers reads and writes them: config.json, generation_config.json,
// model.safetensors (or shards of it), tokenizer.json, tokenizer_config.json. Linear weights of GPT-2 are stored
// (in, out) there and (out, in) here, so they are transposed. Instead of a folder, the path of a GGUF file may be given
// (gguf_export.h writes them).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "data/tokenizers/tokenizer.h"
#include "formats/safetensors/safetensors.h"
#include "models/files/adapter_folder.h"
#include "models/files/weight_files.h"
#include "models/transformer.h"

namespace inkling::models {

struct LoadedModel {
    std::unique_ptr<Transformer<float>> model;
    std::unique_ptr<data::Tokenizer> tokenizer;
};

// Reads a model folder, or an adapter's folder and its base model (adapter_folder.h). Throws BadInput, naming the file,
// for anything missing or invalid, and lists all wrong weights at once. The model is in evaluation mode; `dropout`
// replaces config.json's. Matrices are packed one by one as they are read.
LoadedModel load_model(const std::filesystem::path& folder, std::optional<double> dropout = std::nullopt,
                       WeightStorage storage = {});

// A model by its files' headers: the same errors as load_model's, but no weight is read, and none is checked.
struct ModelHeader {
    WeightFiles weights;  // of the base model, if the folder is an adapter's
    Architecture config;
    std::unique_ptr<data::Tokenizer> tokenizer;
    AdapterHeader adapter = {};

    std::uint64_t parameter_count() const { return models::parameter_count(config) + adapter.parameters; }
};
ModelHeader read_header(const std::filesystem::path& folder);

// The default type of the weights in memory: the file's for a quantized GGUF file, else float32.
WeightType usual_weights(const std::filesystem::path& model);
Architecture load_config(const std::filesystem::path& folder);

// Writes the files into an existing folder, each atomically. Adapters are merged into what is written. Weights are
// stored as `type`: F32, F16 or BF16, rounded to nearest. `hash` receives the bytes of model.safetensors.
void save_model(const std::filesystem::path& folder, Transformer<float>& model, const data::Tokenizer& tokenizer,
                formats::DType type = formats::DType::F32, formats::Sha256* hash = nullptr);

// Writes the tokenizer's files only: tokenizer.json, tokenizer_config.json; none for token ids.
void save_tokenizer(const std::filesystem::path& folder, const Architecture& config, const data::Tokenizer& tokenizer);

bool holds_model(const std::filesystem::path& path);  // or an adapter; not the folder of a run

// For a run's OUT, returns OUT/best, else OUT/latest; returns the folder of a model or an adapter, or a GGUF file, as
// it is. Throws BadInput for any other path.
std::filesystem::path find_model(const std::filesystem::path& path);

// For messages: how to download a missing path that may be a name on the Hugging Face Hub; else "".
std::string how_to_get(const std::filesystem::path& path);

// Loads a tokenizer.json, or the tokenizer of a folder, of a run's best checkpoint or of a GGUF file. For a model
// without a tokenizer, texts are token ids (data/tokenizers/id_tokenizer.h).
std::unique_ptr<data::Tokenizer> open_tokenizer(const std::filesystem::path& path);

}  // namespace inkling::models

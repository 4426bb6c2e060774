// The flags of a command that reads a model while a training run may be replacing it.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "cli/common.h"
#include "cli/log.h"
#include "data/tokenizers/tokenizer.h"
#include "models/files/folder.h"
#include "models/inference/inference_model.h"

namespace inkling::cli {

struct ModelArgument {
    std::string model, adapter;
    const std::string& name() const { return adapter.empty() ? model : adapter; }  // for messages
    const std::string& weights() const { return model.empty() ? adapter : model; }
};

// Adds --model and --adapter. A command needs at least one of them.
void add_model_flags(CLI::App& app, ModelArgument& argument);

// Reads files of one state of the folder: if they are replaced while they are read, it reads them again. The returned
// model holds the adapter beside its weights.
models::LoadedModel load_current(const std::string& path, models::WeightStorage storage = {});
models::LoadedModel load_current(const ModelArgument& argument, models::WeightStorage storage = {});
// Warns on stderr if the tokenizer's file leaves something open. load_current calls it.
void warn_of_tokenizer(const data::Tokenizer& tokenizer);

// --precision, --quantize and --cache-type: the storage of weights, keys and values for inference.
struct WeightFlags {
    std::string precision = {}, quantize = {}, cache = {};
    std::optional<models::CacheType> cache_type() const { return find_named<models::CacheType>(cache); }
    WeightType type_for(const std::filesystem::path& model) const;  // without flags models::usual_weights
};
void add_weight_flags(CLI::App& app, WeightFlags& flags);
void add_cache_flag(CLI::App& app, WeightFlags& flags);

struct InferenceArgument {
    std::shared_ptr<const models::InferenceModel> model;
    std::unique_ptr<data::Tokenizer> tokenizer;
};
InferenceArgument load_for_inference(const ModelArgument& argument, const WeightFlags& weights);

// --strict-vocabulary: characters that a model does not know end the command; by default they are replaced and counted.

inline constexpr const char* kStrictHelp = "refuse characters unknown to the model instead of replacing them";

// Reports on stderr what was replaced since the last call, and returns the number of characters.
inline std::size_t say_replaced(data::Tokenizer& tokenizer) {
    if (!tokenizer.unknown) return 0;
    const std::size_t replaced = tokenizer.unknown->tally().characters;
    if (const std::string note = tokenizer.unknown->note(); !note.empty()) spdlog::info("{}", note);
    tokenizer.take_unknown(false);
    return replaced;
}

}  // namespace inkling::cli

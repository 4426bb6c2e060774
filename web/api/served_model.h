// A model that the server offers under a name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/chat/chat_template.h"
#include "data/tokenizers/tokenizer.h"
#include "models/inference/inference_model.h"

namespace inkling::web {

struct ServedModel {
    std::string name;
    std::shared_ptr<const models::InferenceModel> inference;
    std::shared_ptr<const data::Tokenizer> tokenizer;
    std::optional<data::ChatTemplate> chat = std::nullopt;
    std::string no_chat = "";  // why chat is unavailable
    std::int64_t created = 0;  // Unix time

    std::size_t context() const { return inference->config().block_size; }
};

struct NamedFolder {
    std::string name;
    std::filesystem::path path;  // a model, an adapter, or a run
};

// The model, and one more per adapter, sharing its weights. An adapter without a name is applied to the model itself.
// Throws BadInput.
std::vector<ServedModel> load_served_models(const NamedFolder& model, WeightType type,
                                            const std::vector<NamedFolder>& adapters,
                                            std::optional<models::CacheType> cache = {});
ServedModel load_served_model(const std::string& name, const std::filesystem::path& folder, WeightType type);

}  // namespace inkling::web

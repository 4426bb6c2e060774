// A model that is served, under its name.
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
    std::optional<models::ChatTemplate> chat = std::nullopt;
    std::string no_chat = "";  // why there is none
    std::int64_t created = 0;  // seconds since 1970

    std::size_t context() const { return inference->config().block_size; }
};

struct NamedFolder {
    std::string name;
    std::filesystem::path path;  // of a model, an adapter, or a run of either
};

// A model, and one more for each adapter, over the same weights. An adapter without a name becomes part of the model.
// Throws BadInput.
std::vector<ServedModel> load_served_models(const NamedFolder& model, WeightType type,
                                            const std::vector<NamedFolder>& adapters);
ServedModel load_served_model(const std::string& name, const std::filesystem::path& folder, WeightType type);

}  // namespace inkling::web

// A model that is served, under its name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "models/chat_template.h"
#include "models/decoder.h"

namespace inkling::serve {

struct ServedModel {
    std::string name;
    std::shared_ptr<const models::Decoder> decoder;
    std::shared_ptr<const data::Tokenizer> tokenizer;
    std::optional<models::ChatTemplate> chat = std::nullopt;
    std::string no_chat = "";  // why there is none
    std::int64_t created = 0;  // seconds since 1970

    std::size_t context() const { return decoder->config().block_size; }
};

// Of a model folder or a run; with the adapter of a folder or a run, if one is named. Throws BadInput.
ServedModel load_served_model(const std::string& name, const std::filesystem::path& folder, WeightType type,
                              const std::filesystem::path& adapter = {});

}  // namespace inkling::serve

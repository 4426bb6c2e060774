// Which tokens begin and end a text, by the files of a model folder. generation_config.json and config.json say it by
// id; where neither has the key, tokenizer_config.json says it by the token's text.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "data/tokenizers/tokenizer.h"
#include "models/architecture.h"

namespace inkling::models {

// A JSON file of a model folder. Throws BadInput.
nlohmann::json read_json(const std::filesystem::path& path);

// Of the folder's config.json, which is read, and its generation_config.json.
void take_special_tokens(const std::filesystem::path& folder, const nlohmann::json& config_json, Architecture& config);
void take_tokenizer_config(const std::filesystem::path& folder, const data::Tokenizer& tokenizer, Architecture& config);

}  // namespace inkling::models

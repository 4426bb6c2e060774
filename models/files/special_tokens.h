// Which tokens begin and end a text, pad it, ..., by the files of a model folder. generation_config.json and
// config.json name them by id, tokenizer_config.json and special_tokens_map.json by their text.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf/gguf_writer.h"
#include "models/architecture.h"

namespace inkling::models {

// A JSON file of a model folder. Throws BadInput.
nlohmann::json read_json(const std::filesystem::path& path);

// Of the folder's config.json, which is read, and its generation_config.json.
void take_special_tokens(const std::filesystem::path& folder, const nlohmann::json& config_json, Architecture& config);

// "bos", "eos", "unk", "sep", "pad" and "mask" by the folder's files: the text counts before the id.
data::NamedTokens read_named_tokens(const std::filesystem::path& folder, const data::Tokenizer& tokenizer);
// Gives the tokenizer the folder's names, and the model what neither config.json nor generation_config.json says.
void take_named_tokens(const std::filesystem::path& folder, data::Tokenizer& tokenizer, Architecture& config);

// The ids by name. What no file names is what the tokenizer has: its end of text, and its unknown token. The names of a
// chat template count before others.
std::map<std::string, std::int32_t> named_tokens(const data::Tokenizer& tokenizer);

// The same as the keys of a GGUF file, as llama.cpp's gguf-py writes them (SpecialVocab). llama.cpp stops at three ids
// (eos, eot, eom) and at names that it knows: a model's other ends take the second and the third. Throws BadInput where
// llama.cpp would take an id for the end that is none.
void set_gguf_special_tokens(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model);

}  // namespace inkling::models

// The tokens that begin, end and pad a text, by the files of a model folder. generation_config.json and config.json
// name them by id, tokenizer_config.json and special_tokens_map.json by text.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "formats/gguf/gguf_writer.h"
#include "models/architecture.h"

namespace inkling::models {

// Reads a JSON file of a model folder. Throws BadInput.
nlohmann::json read_json(const std::filesystem::path& path);

// From the folder's config.json, given as read, and its generation_config.json.
void take_special_tokens(const std::filesystem::path& folder, const nlohmann::json& config_json, Architecture& config);

// "bos", "eos", "unk", "sep", "pad" and "mask" by the folder's files; the text takes precedence over the id. Sets the
// model's tokens, if one is given, that neither config.json nor generation_config.json names.
data::NamedTokens read_named_tokens(const std::filesystem::path& folder, const data::Tokenizer& tokenizer,
                                    Architecture* config = nullptr);

// The ids by name. Without a name in the files, the tokenizer's end of text and unknown token are used. The names of a
// chat template take precedence.
std::map<std::string, std::int32_t> named_tokens(const data::Tokenizer& tokenizer);

// Writes them as keys of a GGUF file, like SpecialVocab of llama.cpp's gguf-py. llama.cpp stops at three ids (eos, eot,
// eom) and at names that it knows, so a model's other ends take eot and eom. Throws BadInput if llama.cpp would take a
// wrong id for an end.
void set_gguf_special_tokens(formats::GgufWriter& out, const data::Tokenizer& tokenizer, const Architecture& model);

}  // namespace inkling::models

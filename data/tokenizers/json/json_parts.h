// What the readers of tokenizer.json share, and the readers of the parts around its model: normalizer, pre_tokenizer,
// post_processor and decoder.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "engine/base/check.h"
#include "formats/json.h"

namespace inkling::data {

using formats::at_or_null;  // absent and null mean the same to the `tokenizers` library
using formats::quote;

// The "type" of a part such as the decoder: "none" if the part is absent. Older files have parts without "type"; the
// `tokenizers` library recognizes them by their other keys.
inline std::string type_of(const nlohmann::json& part) {
    if (part.is_null()) return "none";
    const nlohmann::json& type = at_or_null(part, "type");
    if (type.is_string()) return type.get<std::string>();
    if (!part.is_object() || part.contains("type")) return "unknown";
    constexpr std::pair<const char*, const char*> kTypes[] = {
        {"merges", "BPE"},      {"single", "TemplateProcessing"}, {"normalizers", "Sequence"},
        {"prepend", "Prepend"}, {"strip_left", "Strip"},          {"start", "Strip"},
        {"content", "Replace"}};
    for (const auto& [key, known] : kTypes)
        if (part.contains(key)) return known;
    return "unknown";
}

// The type in quotes, such as 'NFC', for messages.
inline std::string shown_type(const nlohmann::json& part) {
    const std::string quoted = nlohmann::json(type_of(part)).dump(-1, ' ', true);
    return fmt::format("'{}'", std::string_view(quoted).substr(1, std::min<std::size_t>(quoted.size() - 2, 40)));
}

// Collects the unsupported settings of a file. One error then lists them all:
//   Refusals refusals;
//   spec.normalizer = read_normalizer(root["normalizer"], refusals);
//   refusals.raise("tokenizer.json");   // BadInput: tokenizer.json: not supported: normalizer of type 'NFKC'; ...
class Refusals {
  public:
    void add(const std::string& what);
    void raise(const std::string& name) const;  // throws BadInput if add() was called

  private:
    std::vector<std::string> all_;
};

// Parts that are null or absent are empty. Throw BadInput for parts that are not well formed.
std::vector<NormalizerStep> read_normalizer(const nlohmann::json& part, Refusals& refusals);
PreTokenizerSpec read_pre_tokenizer(const nlohmann::json& part, Refusals& refusals);
void read_post_processor(const nlohmann::json& part, BpeSpec& spec, Refusals& refusals);
std::vector<DecoderStep> read_decoder(const nlohmann::json& part, Refusals& refusals);

}  // namespace inkling::data

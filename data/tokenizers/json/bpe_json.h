// Reads tokenizer.json of a BPE tokenizer, and GPT-2's older two files. Reading is strict: an error
// names each setting that would give other ids than the `tokenizers` library, or that depends on its version.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "data/tokenizers/bpe/bpe_tokenizer.h"

namespace inkling::data {

// `root` is the parsed file. Throws BadInput: one line that begins with `what` and names everything unsupported.
BpeSpec parse_bpe(const nlohmann::json& root, const std::string& what);

// vocab.json ({"token": id}) and merges.txt ("#version: 0.2", then "left right" a line); <|endoftext|>, if
// present, is the special token.
BpeSpec parse_vocab_and_merges(std::string_view vocab_json, const std::string& vocab_name, std::string_view merges,
                               const std::string& merges_name);

// Single characters: a BPE model without merges, so `tokenizers` falls back to them; Fuse joins them without spaces.
// The bytes of byte fallback are <0x00> to <0xFF>.
BpeSpec characters_spec(std::vector<std::string> vocab, bool byte_fallback);

// Adds a merge, "left right" with one space between. `ids` are the vocabulary's.
using TokenIds = std::unordered_map<std::string, std::int32_t>;
void add_merge(std::string_view line, const TokenIds& ids, BpeSpec& spec, const std::string& what);

}  // namespace inkling::data

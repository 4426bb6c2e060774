// Reads the parts of tokenizer.json around the model: normalizer, pre_tokenizer, post_processor and decoder.
// Collects the unsupported settings of a file, so that its error lists all of them:
//   Refusals refusals;
//   spec.normalizer = read_normalizer(root["normalizer"], refusals);
//   refusals.raise("tokenizer.json");   // BadInput: tokenizer.json: not supported: normalizer of type 'NFKC'; ...
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/tokenizers/bpe/bpe_tokenizer.h"

namespace inkling::data {

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

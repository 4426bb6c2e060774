// The pre-tokenizers of byte pairs that llama.cpp has under a name of its own: tokenizer.ggml.pre.
#pragma once

#include <string_view>
#include <vector>

#include "data/tokenizers/split/pre_tokenizer.h"

namespace inkling::models {

struct GgufSplit {
    const char* name;
    data::PreTokenizerSpec spec;
    bool ignores_merges = false;                    // a piece that is in the vocabulary is that token
    bool adds_begin = false;                        // where the file does not say
    bool nfc = false;                               // which llama.cpp leaves to its user
    std::vector<std::string_view> also_named = {};  // other models that llama.cpp splits so
};

const std::vector<GgufSplit>& gguf_splits();

}  // namespace inkling::models

// The pre-tokenizers of byte pairs that llama.cpp names in tokenizer.ggml.pre.
#pragma once

#include <string_view>
#include <vector>

#include "data/tokenizers/split/pre_tokenizer.h"

namespace inkling::models {

struct GgufSplit {
    const char* name;
    data::PreTokenizerSpec spec;
    bool ignores_merges = false;                    // a piece in the vocabulary becomes that token
    bool adds_begin = false;                        // unless the file says otherwise
    bool nfc = false;                               // llama.cpp leaves it to the user
    std::vector<std::string_view> also_named = {};  // other models with the same split
};

const std::vector<GgufSplit>& gguf_splits();

}  // namespace inkling::models

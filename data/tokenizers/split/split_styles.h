// The pre-tokenizers of well-known families, for training tokenizers:
//   const PreTokenizerSpec spec = pre_tokenizer_of(SplitStyle::llama3);
#pragma once

#include "engine/base/names.h"

namespace inkling::data {

struct PreTokenizerSpec;

enum class SplitStyle { gpt2, llama3, qwen2, nanochat };

constexpr auto names(SplitStyle) {
    return name_table<SplitStyle>({{SplitStyle::gpt2, "gpt2"},
                                   {SplitStyle::llama3, "llama3"},
                                   {SplitStyle::qwen2, "qwen2"},
                                   {SplitStyle::nanochat, "nanochat"}});
}

PreTokenizerSpec pre_tokenizer_of(SplitStyle style);

}  // namespace inkling::data

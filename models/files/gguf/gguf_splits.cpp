#include "models/files/gguf/gguf_splits.h"

#include "data/tokenizers/split/split_styles.h"

namespace inkling::models {

const std::vector<GgufSplit>& gguf_splits() {
    using data::SplitStep, data::ByteLevelStep, data::SplitStyle, data::pre_tokenizer_of;
    static const std::vector<GgufSplit> all = {
        {.name = "gpt-2",
         .spec = {},
         .also_named = {"gpt2", "phi-2", "mpt", "olmo", "jais", "roberta-bpe", "gigachat"}},
        {.name = "llama-bpe",
         .spec = pre_tokenizer_of(SplitStyle::llama3),
         .ignores_merges = true,
         .adds_begin = true,
         .also_named = {"llama3", "llama-v3", "falcon3", "pixtral"}},
        {.name = "qwen2",
         .spec = pre_tokenizer_of(SplitStyle::qwen2),
         .nfc = true,
         .also_named = {"deepseek-r1-qwen", "megrez"}},
        {.name = "smollm",
         .spec = {{SplitStep{.kind = SplitStep::Kind::digits}, ByteLevelStep{}}},
         .also_named = {"starcoder", "refact", "command-r", "codeshell", "exaone"}}};
    return all;
}

}  // namespace inkling::models

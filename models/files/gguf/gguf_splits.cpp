#include "models/files/gguf/gguf_splits.h"

#include "data/tokenizers/split/pre_tokenizer.h"
#include "data/tokenizers/split/split_patterns.h"

namespace inkling::models {

const std::vector<GgufSplit>& gguf_splits() {
    using data::SplitStep, data::ByteLevelStep, data::SplitStyle, data::pre_tokenizer_of;
    static const std::vector<GgufSplit> all = {
        {.name = "gpt-2",
         .spec = {},
         .also_named = {"gpt2", "phi-2", "mpt", "olmo", "jais", "roberta-bpe", "gigachat", "a.x-4.0", "exaone4",
                        "jina-de", "jina-es", "mellum", "trillion"}},
        {.name = "llama-bpe",
         .spec = pre_tokenizer_of(SplitStyle::llama3),
         .ignores_merges = true,
         .adds_begin = true,
         .also_named = {"llama3", "llama-v3", "falcon3", "falcon-h1", "lfm2", "midm-2.0", "pixtral"}},
        {.name = "qwen2",
         .spec = pre_tokenizer_of(SplitStyle::qwen2),
         .nfc = true,
         .also_named = {"deepseek-r1-qwen", "f2llmv2", "kormo", "megrez"}},
        {.name = "smollm",
         .spec = {{SplitStep{.kind = SplitStep::Kind::digits}, ByteLevelStep{}}},
         .also_named = {"starcoder", "refact", "command-r", "codeshell", "exaone", "mellum2", "minerva-7b"}},
        // what llama.cpp takes where a file names none
        {.name = "default",
         .spec = {{SplitStep{.pattern = {R"([\p{P}\$\+<=>\^~\|]+)"}}, SplitStep{.pattern = {data::gpt2_pattern}},
                   SplitStep{.pattern = {R"(\p{N}+)"}}, SplitStep{.pattern = {"[0-9][0-9][0-9]"}},
                   ByteLevelStep{.gpt2_pattern = false}}}}};
    return all;
}

}  // namespace inkling::models

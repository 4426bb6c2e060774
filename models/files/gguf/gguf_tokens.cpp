#include "models/files/gguf/gguf_tokens.h"

#include <algorithm>
#include <map>
#include <set>

#include "data/tokenizers/split/split_patterns.h"
#include "models/files/gguf/gguf_tokenizer.h"

namespace inkling::models {
namespace {

using Texts = std::set<std::string_view>;

// Tokens that end a text or a turn, in any vocabulary that has them; and under the name of a key, those that do so
// where the file lacks the key: padding and the beginnings of other files, in code that is filled in.
const std::map<std::string, Texts>& ends() {
    static const std::map<std::string, Texts> all = {
        {"",
         {"</s>",
          "<eos>",
          "[EOS]",
          "<EOT>",
          "_<EOT>",
          "[EOT]",
          "<|eot_id|>",
          "<|eom_id|>",
          "<|im_end|>",
          "<|end|>",
          "<end_of_turn>",
          "<turn|>",
          "<end_of_utterance>",
          "<|endoftext|>",
          "<|end_of_text|>",
          "<|return|>",
          "<|call|>",
          "<|calls|>",
          "<|flush|>",
          "<|tool_response>",
          "<\uff5cend\u2581of\u2581sentence\uff5c>",
          "[e~["}},
        {"fim_pad", {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
        {"fim_rep", {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
        {"fim_sep", {"<|file_sep|>"}}};
    return all;
}

// Marks around the parts of such code.
const Texts& parts() {
    static const Texts all = {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",    "<\uff5cfim\u2581begin\uff5c>",
                              "<PRE>",          "\u2581<PRE>",  "<|code_prefix|>", "<|prefix|>",
                              "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",    "<\uff5cfim\u2581hole\uff5c>",
                              "<SUF>",          "\u2581<SUF>",  "<|code_suffix|>", "<|suffix|>",
                              "<|fim_middle|>", "<fim-middle>", "<fim_middle>",    "<\uff5cfim\u2581end\uff5c>",
                              "<MID>",          "\u2581<MID>",  "<|code_middle|>", "<|middle|>"};
    return all;
}

}  // namespace

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

std::optional<std::int32_t> gguf_token(const formats::GgufFile& file, const std::string& name, std::size_t vocab_size) {
    const auto own = file.size("tokenizer.ggml." + name + "_token_id");
    if (own && *own < vocab_size) return static_cast<std::int32_t>(*own);
    if (file.text("tokenizer.ggml.model") != "llama") return std::nullopt;
    static const std::map<std::string, std::int32_t> usual = {{"unknown", 0}, {"bos", 1}, {"eos", 2}};
    const auto found = usual.find(name);
    if (found == usual.end() || static_cast<std::size_t>(found->second) >= vocab_size) return std::nullopt;
    return found->second;
}

bool is_gguf_control(std::string_view token) {
    return parts().contains(token) ||
           std::any_of(ends().begin(), ends().end(), [&](const auto& kind) { return kind.second.contains(token); });
}

void take_gguf_special_tokens(const formats::GgufFile& file, Architecture& a) {
    const auto begin = gguf_token(file, "bos", a.vocab_size);
    if (begin) a.begin_token = *begin;
    const auto add = [&](std::int32_t id) {
        if (!std::count(a.end_tokens.begin(), a.end_tokens.end(), id)) a.end_tokens.push_back(id);
    };
    for (const char* const name : {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"})
        if (const auto id = gguf_token(file, name, a.vocab_size)) add(*id);
    const std::vector<std::string_view> texts = file.texts("tokenizer.ggml.tokens");
    const std::string types = "tokenizer.ggml.token_type";
    const std::vector<double> kinds =
        file.has(types) ? file.numbers(types, texts.size()) : std::vector<double>(texts.size(), kNormal);
    std::map<std::string_view, std::int32_t> found;
    for (const auto& [key, ending] : ends()) {
        if (!key.empty() && gguf_token(file, key, a.vocab_size)) continue;
        for (std::size_t id = 0; id < std::min(texts.size(), a.vocab_size); ++id) {
            if (kinds[id] == kUnused || !ending.contains(texts[id])) continue;
            if (texts[id] == "</s>" && kinds[id] == kUserDefined) continue;  // HTML's, in Gemma's vocabulary
            add(static_cast<std::int32_t>(id));
            found.emplace(texts[id], static_cast<std::int32_t>(id));
        }
    }
    // where a call of a tool ends a text too, <|end|> only ends a message
    const auto any = [&](const char* one, const char* other) { return found.contains(one) || found.contains(other); };
    if (any("<|call|>", "<|calls|>") && any("<|return|>", "<|flush|>") && found.contains("<|end|>"))
        std::erase(a.end_tokens, found.at("<|end|>"));
    a.has_bos = begin || a.end_tokens.empty();
}

}  // namespace inkling::models

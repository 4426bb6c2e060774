// llama.cpp's built-in knowledge of tokens: kinds of tokens (tokenizer.ggml.token_type), names of keys, the splits
// of byte pairs that tokenizer.ggml.pre names, and tokens that it takes for control tokens because of their text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tokenizers/split/pre_tokenizer.h"
#include "formats/gguf/gguf_file.h"

namespace inkling::models {

inline constexpr std::int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;
// Our names of special tokens, and llama.cpp's in its keys.
inline constexpr std::pair<const char*, const char*> kGgufTokenNames[] = {
    {"bos", "bos"},     {"eos", "eos"},  {"unk", "unknown"}, {"sep", "seperator"},  // as llama.cpp spells it
    {"pad", "padding"}, {"mask", "mask"}};
inline constexpr const char* kNoTokenizer = "none";  // tokenizer.ggml.model of token ids
inline constexpr const char* kSpaceSign = "\u2581";  // SentencePiece's for a space

// The id under tokenizer.ggml.NAME_token_id, else SentencePiece's usual id, if it is in the vocabulary.
std::optional<std::int32_t> gguf_token(const formats::GgufFile& file, const std::string& name, std::size_t vocab_size);

// Whether llama.cpp takes a token for a control token because of its text, whatever its type is.
bool is_gguf_control(std::string_view token);

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

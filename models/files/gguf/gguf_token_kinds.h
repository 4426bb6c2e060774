// llama.cpp's kinds of tokens: tokenizer.ggml.token_type.
#pragma once

#include <cstdint>

namespace inkling::models {

inline constexpr std::int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;
inline constexpr const char* kSpaceSign = "\u2581";  // SentencePiece's for a space

}  // namespace inkling::models

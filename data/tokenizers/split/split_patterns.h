// The split patterns of well-known tokenizers, as in their tokenizer.json. They need few steps on any text (a test
// counts them), so they are searched without counting: see regex.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace inkling::data {

inline constexpr char gpt2_pattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The end of the piece of gpt2_pattern that begins at text[at]; 0 if it depends on a character beyond ASCII. In ASCII
// text, which is nearly all English text, this is several times as fast as the pattern.
std::size_t gpt2_ascii_piece_end(std::string_view text, std::size_t at);

// The first position at or after `from` where a piece ends regardless of the text before: between an ASCII letter and
// ASCII white space, else the end of the text. Texts are cut there so that threads can split the parts.
std::size_t gpt2_safe_cut(std::string_view text, std::size_t from);

// GPT-4 (cl100k), Llama 3
inline constexpr char llama3_pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Qwen 2 and 3
inline constexpr char qwen2_pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline constexpr char nanochat_pattern[] =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";

inline constexpr std::array<std::string_view, 6> known_split_patterns = {
    gpt2_pattern, llama3_pattern, qwen2_pattern, nanochat_pattern,
    // GPT-4o (o200k)
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    // StarCoder, SmolLM: single digits, before GPT-2's own
    R"(\p{N})"};

// \w of UTS 18: alphabetic, mark, decimal number, connector, joiner. With brackets, for a pattern.
inline constexpr char word_class[] = R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9})"
                                     R"(\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])";

inline bool is_known_split(std::string_view pattern) {
    return std::find(known_split_patterns.begin(), known_split_patterns.end(), pattern) != known_split_patterns.end();
}

// Whether pieces of a known pattern always end between a letter and white space: all but the single-digit one.
inline bool is_word_split(std::string_view pattern) {
    return is_known_split(pattern) && pattern != known_split_patterns.back();
}

}  // namespace inkling::data

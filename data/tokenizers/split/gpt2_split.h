// GPT-2's split of text into pieces, within which byte pairs merge: words with the space before them, numbers, runs of
// other characters, white space. The pattern is the definition. In ASCII text, which is nearly all English text, a loop
// finds the same pieces several times as fast.
#pragma once

#include <cstddef>
#include <string_view>

namespace inkling::data {

// In the dialect of tokenizer.json: see regex.h.
inline constexpr char gpt2_pattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The end of the piece that begins at text[at]; 0 if it depends on a character beyond ASCII.
std::size_t gpt2_ascii_piece_end(std::string_view text, std::size_t at);

// The first position at or after `from` where a piece ends regardless of the text before: between an ASCII letter and
// ASCII white space, else the end of the text. Texts are cut there so that threads can split the parts.
std::size_t gpt2_safe_cut(std::string_view text, std::size_t from);

}  // namespace inkling::data

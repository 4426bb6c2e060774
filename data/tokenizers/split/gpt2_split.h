// How GPT-2 splits text into the pieces in which byte pairs are merged: words with the space before them, numbers, runs
// of other characters, white space. The pattern is the definition; where all characters are ASCII, nearly everywhere in
// English, a loop finds the same pieces several times as fast.
#pragma once

#include <cstddef>
#include <string_view>

namespace inkling::data {

// See split_dialect.h.
inline constexpr char gpt2_pattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The end of the piece that begins at text[at]; 0 if it depends on a character beyond ASCII.
std::size_t gpt2_ascii_piece_end(std::string_view text, std::size_t at);

// The first place at or after `from` where a piece ends whatever precedes it: between a letter and white space, both
// ASCII; the end of the text if there is none. Texts are cut there so that threads can split the parts.
std::size_t gpt2_safe_cut(std::string_view text, std::size_t from);

}  // namespace inkling::data

// GPT-2's way of cutting text into the pieces that byte pairs are merged in: words with the space before them, numbers,
// runs of other signs, white space. The pattern is the definition; pieces that ASCII alone decides, nearly all of
// English, are found by a loop that does the same, several times as fast.
#pragma once

#include <cstddef>
#include <string_view>

namespace inkling::data {

// See split_dialect.h.
inline constexpr char gpt2_pattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The end of the piece that begins at text[at]; 0 when a character beyond ASCII has a say in it.
std::size_t gpt2_ascii_piece_end(std::string_view text, std::size_t at);

// The first place at or after `from` where a piece surely ends, whatever comes before: after a letter and before white
// space, both ASCII. The text's end when there is none. Texts are cut there to be split side by side.
std::size_t gpt2_safe_cut(std::string_view text, std::size_t from);

}  // namespace inkling::data

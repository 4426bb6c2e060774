// Counts the pieces of a pre-tokenizer in texts. Training a tokenizer needs only these counts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/tokenizers/split/pre_tokenizer.h"

namespace inkling::data {

struct PieceCount {
    std::string_view piece;  // a part of the texts
    std::int64_t count;
};

// Each piece once, sorted by its bytes. The result does not depend on the number of threads. The steps must not change
// the texts, and must allow cuts at gpt2_safe_cut.
std::vector<PieceCount> count_pieces(std::span<const std::string_view> texts, const PreTokenizerSpec& spec);

}  // namespace inkling::data

// How often each piece of GPT-2's pattern comes in some texts, which is all that training a tokenizer looks at.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace inkling::data {

struct PieceCount {
    std::string_view piece;  // a part of the texts
    std::int64_t count;
};

// Each piece once, in the order of its bytes. Several threads count; the result does not depend on how many.
std::vector<PieceCount> count_pieces(std::span<const std::string_view> texts);

}  // namespace inkling::data

// How often each piece of GPT-2's pattern occurs in some texts, which is all that training a tokenizer needs.
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

// Each piece once, sorted by its bytes. The result does not depend on the number of threads.
std::vector<PieceCount> count_pieces(std::span<const std::string_view> texts);

}  // namespace inkling::data

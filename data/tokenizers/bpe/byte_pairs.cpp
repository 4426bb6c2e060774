#include "data/tokenizers/bpe/byte_pairs.h"

#include <array>

namespace inkling::data {

BytePairs::BytePairs(const std::vector<Merge>& merges) {
    std::size_t size = 2;
    for (; size < 2 * merges.size() + 2; size *= 2) --shift_;
    slots_.resize(size);
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        const std::uint64_t pair = pair_of(merges[rank].left, merges[rank].right);
        std::size_t i = home(pair);
        while (slots_[i].pair != no_pair && slots_[i].pair != pair) i = (i + 1) & (size - 1);
        slots_[i] = {pair, static_cast<std::uint32_t>(rank), merges[rank].merged};
    }
}

const BytePairs::Slot& BytePairs::find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t pair = pair_of(left, right);
    std::size_t i = home(pair);
    while (slots_[i].pair != pair && slots_[i].pair != no_pair) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];  // the empty slot has no_rank
}

// Merges at most longest_short symbols, those from index `first` to the end, in O(n^2) time.
void BytePairs::merge_last(std::size_t first, std::vector<std::int32_t>& ids) const {
    std::array<std::uint32_t, longest_short> rank;  // rank[i]: the rank of the merge of symbols i and i + 1
    std::size_t size = ids.size() - first;
    std::int32_t* const id = ids.data() + first;
    for (std::size_t i = 0; i + 1 < size; ++i) rank[i] = find(id[i], id[i + 1]).rank;
    while (size > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < size; ++i) {
            if (rank[i] < rank[best]) best = i;
        }
        if (rank[best] == no_rank) break;
        id[best] = find(id[best], id[best + 1]).merged;
        --size;
        for (std::size_t i = best + 1; i < size; ++i) {
            id[i] = id[i + 1];
            rank[i] = rank[i + 1];
        }
        if (best > 0) rank[best - 1] = find(id[best - 1], id[best]).rank;
        if (best + 1 < size) rank[best] = find(id[best], id[best + 1]).rank;
    }
    ids.resize(first + size);
}

}  // namespace inkling::data

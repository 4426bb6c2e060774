#include "data/tokenizers/bpe/byte_pairs.h"

#include "engine/base/check.h"

namespace inkling::data {

namespace {

constexpr std::size_t longest_short = 64;

}  // namespace

BytePairs::BytePairs(const std::array<std::int32_t, 256>& bytes, const std::vector<Merge>& merges) : bytes_(bytes) {
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

std::int32_t BytePairs::id_of(char byte) const {
    const std::int32_t id = bytes_[static_cast<unsigned char>(byte)];
    check<BadInput>(id >= 0, "the byte 0x{:02X} is not in the vocabulary", static_cast<unsigned char>(byte));
    return id;
}

void BytePairs::append_ids(std::string_view piece, std::vector<std::int32_t>& ids, const Between& between) const {
    const auto id_at = [&](std::size_t i) { return id_of(piece[i]); };
    if (piece.size() > longest_short) return append_long(piece.size(), id_at, ids, between);
    const std::size_t first = ids.size();
    for (const char byte : piece) ids.push_back(id_of(byte));
    merge_last(first, ids);
}

void BytePairs::append_ids(std::span<const std::int32_t> symbols, std::vector<std::int32_t>& ids,
                           const Between& between) const {
    const auto id_at = [&](std::size_t i) { return symbols[i]; };
    if (symbols.size() > longest_short) return append_long(symbols.size(), id_at, ids, between);
    const std::size_t first = ids.size();
    ids.insert(ids.end(), symbols.begin(), symbols.end());
    merge_last(first, ids);
}

// Merges the symbols from `first` on, at most longest_short, in O(n^2) time.
void BytePairs::merge_last(std::size_t first, std::vector<std::int32_t>& ids) const {
    std::array<std::uint32_t, longest_short> rank;  // rank[i]: of the merge of i and i + 1
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

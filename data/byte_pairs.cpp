#include "data/byte_pairs.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/check.h"

namespace inkling::data {

namespace {

constexpr std::size_t longest_short = 64;

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

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

void BytePairs::append_ids(std::string_view piece, std::vector<std::int32_t>& ids) const {
    return piece.size() <= longest_short ? append_short(piece, ids) : append_long(piece, ids);
}

void BytePairs::append_short(std::string_view piece, std::vector<std::int32_t>& ids) const {
    const std::size_t first = ids.size();
    for (const char byte : piece) ids.push_back(id_of(byte));
    std::vector<std::uint32_t> heap_ranks;
    std::array<std::uint32_t, longest_short> stack_ranks;
    std::uint32_t* rank = stack_ranks.data();  // of the merge of i and i + 1
    std::size_t size = piece.size();
    if (size > longest_short) {
        heap_ranks.resize(size);
        rank = heap_ranks.data();
    }
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

// Neighbours in a linked list, their merges in a heap; what a merge has made out of date is skipped as it comes up.
void BytePairs::append_long(std::string_view piece, std::vector<std::int32_t>& ids) const {
    struct Symbol {
        std::int32_t id;
        std::uint32_t previous, next;
    };
    check<BadInput>(piece.size() < no_rank, "a piece of {} bytes is too long: at most 2^32 - 2", piece.size());
    const auto size = static_cast<std::uint32_t>(piece.size());
    std::vector<Symbol> symbols(size);
    using Candidate = std::pair<std::uint32_t, std::uint32_t>;  // rank, place of the left neighbour
    std::vector<Candidate> heap;
    const auto later = std::greater<Candidate>();
    const auto rank_at = [&](std::uint32_t i) {
        const std::uint32_t next = symbols[i].next;
        return next < size ? find(symbols[i].id, symbols[next].id).rank : no_rank;
    };
    for (std::uint32_t i = 0; i < size; ++i) symbols[i] = {id_of(piece[i]), i - 1, i + 1};
    for (std::uint32_t i = 0; i < size; ++i) {
        if (const std::uint32_t rank = rank_at(i); rank != no_rank) heap.emplace_back(rank, i);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    const auto push = [&](std::uint32_t i) {
        const std::uint32_t rank = rank_at(i);
        if (rank == no_rank) return;
        heap.emplace_back(rank, i);
        std::push_heap(heap.begin(), heap.end(), later);
    };
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const auto [rank, left] = heap.back();
        heap.pop_back();
        if (symbols[left].id < 0 || rank_at(left) != rank) continue;
        const std::uint32_t right = symbols[left].next, after = symbols[right].next;
        symbols[left].id = find(symbols[left].id, symbols[right].id).merged;
        symbols[left].next = after;
        symbols[right].id = -1;
        if (after < size) symbols[after].previous = left;
        if (left > 0) push(symbols[left].previous);
        push(left);
    }
    for (std::uint32_t i = 0; i < size; i = symbols[i].next) ids.push_back(symbols[i].id);
}

}  // namespace inkling::data

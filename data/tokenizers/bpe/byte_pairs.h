// Encodes the symbols of a piece by merging neighbours: applies the earliest-learned merge in the piece, leftmost
// first, until none applies.
//   const BytePairs pairs(merges);
//   pairs.append_ids(symbols.size(), [&](std::size_t i) { return symbols[i]; }, ids);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace inkling::data {

// A merge replaces left and right by one token.
struct Merge {
    std::int32_t left, right, merged;
    bool operator==(const Merge&) const = default;
};

// left << 32 | right, so that pairs are ordered by left, then right.
inline std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

class BytePairs {
  public:
    // Merges are in the order learned; a later duplicate of a pair wins.
    explicit BytePairs(const std::vector<Merge>& merges);

    // Appends the ids of a piece whose symbols are the ids symbol_at(0), ..., symbol_at(size - 1). `between`, if given,
    // is called now and then in a piece of megabytes and may consume the ids so far.
    using Between = std::function<void()>;
    template <class At>
    void append_ids(std::size_t size, const At& symbol_at, std::vector<std::int32_t>& ids,
                    const Between& between = nullptr) const {
        if (size > longest_short) return append_long(size, symbol_at, ids, between);
        const std::size_t first = ids.size();
        for (std::size_t i = 0; i < size; ++i) ids.push_back(symbol_at(i));
        merge_last(first, ids);
    }

    // What append_ids does for more than a few symbols: O(n log n) time, and memory for a window of `window` symbols
    // that slides over the piece. (Some merges leave too few symbols of a window certain; then the window grows.)
    using SymbolAt = std::function<std::int32_t(std::size_t)>;
    void append_long(std::size_t size, const SymbolAt& symbol_at, std::vector<std::int32_t>& ids,
                     const Between& between = nullptr, std::size_t window = 1 << 18) const;

  private:
    void merge_last(std::size_t first, std::vector<std::int32_t>& ids) const;

    static constexpr std::size_t longest_short = 64;
    static constexpr std::uint32_t no_rank = 0xFFFFFFFF;
    struct Slot {
        std::uint64_t pair = no_pair;
        std::uint32_t rank = no_rank;
        std::int32_t merged = -1;
    };
    static constexpr std::uint64_t no_pair = ~std::uint64_t{0};

    class Window;
    class ByLeft;
    const ByLeft& by_left() const;

    const Slot& find(std::int32_t left, std::int32_t right) const;
    std::size_t home(std::uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u) >> shift_; }

    std::vector<Slot> slots_;  // open addressing, at most half full
    unsigned shift_ = 63;
    mutable std::once_flag by_left_made_;  // for pieces longer than a window
    mutable std::shared_ptr<const ByLeft> by_left_;
};

}  // namespace inkling::data

// Encodes the bytes of a piece by merging neighbours: applies the earliest-learned merge in the piece, leftmost first,
// until none applies.
//   const BytePairs pairs(bytes, merges);
//   pairs.append_ids(" world", ids);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
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
    // `bytes[b]` is the id of byte b, or -1. Merges are in the order learned; a later duplicate of a pair wins.
    BytePairs(const std::array<std::int32_t, 256>& bytes, const std::vector<Merge>& merges);

    // Throws BadInput for a byte without an id. `between`, if given, is called now and then in a piece of megabytes and
    // may consume the ids so far.
    using Between = std::function<void()>;
    void append_ids(std::string_view piece, std::vector<std::int32_t>& ids, const Between& between = nullptr) const;

    // The same for symbols that are already ids, such as those of characters.
    void append_ids(std::span<const std::int32_t> symbols, std::vector<std::int32_t>& ids,
                    const Between& between = nullptr) const;

    // What append_ids does for more than a few symbols: O(n log n) time, and memory for a window of `window` symbols
    // that slides over the piece. (Some merges leave too few symbols of a window certain; then the window grows.)
    using SymbolAt = std::function<std::int32_t(std::size_t)>;
    void append_long(std::size_t size, const SymbolAt& symbol_at, std::vector<std::int32_t>& ids,
                     const Between& between = nullptr, std::size_t window = 1 << 18) const;

  private:
    void merge_last(std::size_t first, std::vector<std::int32_t>& ids) const;

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

    std::int32_t id_of(char byte) const;
    const Slot& find(std::int32_t left, std::int32_t right) const;
    std::size_t home(std::uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u) >> shift_; }

    std::array<std::int32_t, 256> bytes_;
    std::vector<Slot> slots_;  // open addressing, at most half full
    unsigned shift_ = 63;
    mutable std::once_flag by_left_made_;  // for pieces longer than a window
    mutable std::shared_ptr<const ByLeft> by_left_;
};

}  // namespace inkling::data

// BytePairs::append_long: pieces of many bytes, in windows.
//
// If no merge crosses a border, the merges on its two sides do not depend on each other, so a piece may be cut there. A
// window finds these borders before it has the text that follows. Its `frontier_` divides the symbols: those on the
// left are certain, because the whole piece has the same symbols there at this moment. Let s be the last certain symbol
// and z the symbol after it. z may depend on the text that follows: it is the symbol that stood there when the window
// set the frontier, or a symbol that later merges made of it. The next merge on the left is the first by (rank, place).
// It is certain if no merge of s with a possible z has a lower rank. Otherwise s is uncertain, and the window moves the
// frontier to the left of s.
#include <algorithm>
#include <compare>
#include <functional>
#include <utility>

#include "data/tokenizers/bpe/byte_pairs.h"
#include "engine/base/check.h"

namespace inkling::data {

// The merges sorted by their left part, then by rank.
class BytePairs::ByLeft {
  public:
    explicit ByLeft(const std::vector<Slot>& slots) {
        for (const Slot& slot : slots) {
            if (slot.rank == no_rank) continue;
            const auto left = static_cast<std::int32_t>(slot.pair >> 32);
            rows_.push_back({left, slot.rank, static_cast<std::int32_t>(slot.pair & no_rank), slot.merged});
            max_id_ = std::max(max_id_, slot.merged);
        }
        std::sort(rows_.begin(), rows_.end());
    }

    // For each id, whether merges on the right of `symbol` can make it. The symbol itself counts.
    std::vector<bool> grown_from(std::int32_t symbol) const {
        std::vector<bool> grown(static_cast<std::size_t>(std::max(max_id_, symbol)) + 1);
        std::vector<std::int32_t> open = {symbol};
        while (!open.empty()) {
            const std::int32_t id = open.back();
            open.pop_back();
            if (grown[static_cast<std::size_t>(id)]) continue;
            grown[static_cast<std::size_t>(id)] = true;
            for (const Row* row = first(id); row != end() && row->left == id; ++row) open.push_back(row->merged);
        }
        return grown;
    }

    // The rank of a merge of `left` with one of `rights`, or no_rank.
    std::uint32_t lowest_rank(std::int32_t left, const std::vector<bool>& rights) const {
        for (const Row* row = first(left); row != end() && row->left == left; ++row) {
            const auto right = static_cast<std::size_t>(row->right);
            if (right < rights.size() && rights[right]) return row->rank;
        }
        return no_rank;
    }

  private:
    struct Row {
        std::int32_t left;
        std::uint32_t rank;
        std::int32_t right, merged;
        auto operator<=>(const Row&) const = default;
    };
    const Row* end() const { return rows_.data() + rows_.size(); }
    const Row* first(std::int32_t left) const {
        return std::lower_bound(rows_.data(), end(), left, [](const Row& row, std::int32_t l) { return row.left < l; });
    }

    std::vector<Row> rows_;
    std::int32_t max_id_ = 0;  // the largest id that a merge makes
};

// Symbols form a linked list, and their merges a heap. Candidates that a merge has outdated are skipped when popped.
class BytePairs::Window {
  public:
    // The symbols from place `begin` on. `open`: the piece continues after the window.
    Window(const BytePairs& pairs, const SymbolAt& symbol_at, std::size_t begin, std::size_t size, bool open)
        : pairs_(pairs), open_(open), size_(static_cast<std::uint32_t>(size)), symbols_(size_) {
        for (std::uint32_t i = 0; i < size_; ++i) symbols_[i] = {symbol_at(begin + i), i - 1, i + 1};
        for (std::uint32_t i = 0; i < size_; ++i)
            if (const std::uint32_t rank = rank_at(i); rank != no_rank) heap_.emplace_back(rank, i);
        std::make_heap(heap_.begin(), heap_.end(), later);
        draw_frontier(open ? size_ - 1 : size_);
    }

    // Does all certain merges, appends the ids of the certain symbols, and returns their number of bytes.
    std::size_t run(std::vector<std::int32_t>& ids) {
        for (;;) {
            std::uint32_t left = 0;
            const std::uint32_t rank = next_merge(left);
            if (open_) retreat(rank);
            if (rank == no_rank) break;
            if (symbols_[left].next < frontier_) merge(left);
        }
        for (std::uint32_t i = 0; i < frontier_; i = symbols_[i].next) ids.push_back(symbols_[i].id);
        return frontier_;
    }

  private:
    struct Symbol {
        std::int32_t id;
        std::uint32_t previous, next;  // by their first bytes
    };
    using Candidate = std::pair<std::uint32_t, std::uint32_t>;  // rank, place of the left neighbour
    static constexpr std::greater<Candidate> later = {};

    std::uint32_t rank_at(std::uint32_t i) const {
        const std::uint32_t next = symbols_[i].next;
        return next < size_ ? pairs_.find(symbols_[i].id, symbols_[next].id).rank : no_rank;
    }

    // The first merge left of the frontier, by (rank, place); no_rank without a merge.
    std::uint32_t next_merge(std::uint32_t& left) {
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            const auto [rank, place] = heap_.back();
            heap_.pop_back();
            left = place;
            const Symbol& symbol = symbols_[place];
            if (symbol.id >= 0 && symbol.next < frontier_ && rank_at(place) == rank) return rank;
        }
        return no_rank;
    }

    void draw_frontier(std::uint32_t place) {
        frontier_ = place;
        last_ = -1;
        if (open_ && place > 0) beyond_ = pairs_.by_left().grown_from(symbols_[place].id);
    }

    // Moves the frontier left of symbols that may merge across it before a merge of this rank.
    void retreat(std::uint32_t rank) {
        while (frontier_ > 0) {
            const std::uint32_t last = symbols_[frontier_].previous;
            if (symbols_[last].id != last_) {
                last_ = symbols_[last].id;
                crossing_ = pairs_.by_left().lowest_rank(last_, beyond_);
            }
            if (crossing_ >= rank) return;  // among equal ranks, the left merge comes first
            draw_frontier(++retreats_ < max_retreats ? last : 0);
        }
    }

    void merge(std::uint32_t left) {
        const std::uint32_t right = symbols_[left].next, after = symbols_[right].next;
        symbols_[left].id = pairs_.find(symbols_[left].id, symbols_[right].id).merged;
        symbols_[left].next = after;
        symbols_[right].id = -1;
        if (after < size_) symbols_[after].previous = left;
        if (left > 0) push(symbols_[left].previous);
        push(left);
    }

    void push(std::uint32_t i) {
        const std::uint32_t rank = rank_at(i);
        if (rank == no_rank) return;
        heap_.emplace_back(rank, i);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    static constexpr int max_retreats = 100;  // after them, a larger window is tried

    const BytePairs& pairs_;
    const bool open_;
    const std::uint32_t size_;
    std::vector<Symbol> symbols_;  // by first byte; a symbol merged into the one before has id -1
    std::vector<Candidate> heap_;
    std::uint32_t frontier_ = 0;  // the first byte of the first symbol that is not certain
    std::vector<bool> beyond_;    // by id: whether that symbol may become it
    std::int32_t last_ = -1;      // the symbol left of the frontier
    std::uint32_t crossing_ = 0;  // the lowest rank of a merge of last_ with a symbol of beyond_
    int retreats_ = 0;
};

const BytePairs::ByLeft& BytePairs::by_left() const {
    std::call_once(by_left_made_, [&] { by_left_ = std::make_shared<const ByLeft>(slots_); });
    return *by_left_;
}

void BytePairs::append_long(std::size_t size, const SymbolAt& symbol_at, std::vector<std::int32_t>& ids,
                            const Between& between, std::size_t window) const {
    for (std::size_t done = 0; done < size;) {
        const std::size_t count = std::min(window, size - done);
        check<BadInput>(count < no_rank, "a piece of {} bytes is too long: at most 2^32 - 2", size - done);
        const std::size_t merged = Window(*this, symbol_at, done, count, count < size - done).run(ids);
        done += merged;
        if (4 * merged < window) window *= 2;  // permanently, so that the windows together are not many times the piece
        if (between && done < size) between();
    }
}

}  // namespace inkling::data

// Ids of pieces that have come before in one text, because most words of a text are a few words again and again:
//   if (const auto known = cache.find(piece)) ...              // ids
//   cache.insert(piece, ids);                                  // whose text must live as long as the cache
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace inkling::data {

class PieceCache {
  public:
    std::optional<std::span<const std::int32_t>> find(std::string_view piece) const {
        const Entry& entry = entries_[place(piece)];
        if (entry.text.data() == nullptr) return std::nullopt;
        return std::span(ids_).subspan(entry.first, entry.count);
    }

    // Does nothing for long pieces, which seldom come twice, and when the cache is full.
    void insert(std::string_view piece, std::span<const std::int32_t> ids) {
        if (piece.size() > longest || used_ >= most) return;
        if (2 * (used_ + 1) > entries_.size()) grow();
        entries_[place(piece)] = {piece, static_cast<std::uint32_t>(ids_.size()),
                                  static_cast<std::uint32_t>(ids.size())};
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        ++used_;
    }

  private:
    struct Entry {
        std::string_view text;
        std::uint32_t first = 0, count = 0;
    };
    static constexpr std::size_t longest = 64, most = 1 << 18;

    // Where the piece is, or else would be.
    std::size_t place(std::string_view piece) const {
        std::size_t i = std::hash<std::string_view>()(piece) & (entries_.size() - 1);
        while (entries_[i].text.data() != nullptr && entries_[i].text != piece) i = (i + 1) & (entries_.size() - 1);
        return i;
    }

    void grow() {
        std::vector<Entry> old(4 * entries_.size());
        old.swap(entries_);
        for (const Entry& entry : old)
            if (entry.text.data() != nullptr) entries_[place(entry.text)] = entry;
    }

    std::vector<Entry> entries_ = std::vector<Entry>(256);
    std::vector<std::int32_t> ids_;
    std::size_t used_ = 0;
};

}  // namespace inkling::data

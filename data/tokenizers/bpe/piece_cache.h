// The ids of pieces that have occurred before in a text, because few words make up most of a text:
//   if (const auto known = cache.find(piece)) ...              // ids
//   cache.insert(piece, ids);
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

class PieceCache {
  public:
    std::optional<std::span<const std::int32_t>> find(std::string_view piece) const {
        const Entry& entry = entries_[place(piece)];
        if (entry.size == 0) return std::nullopt;
        return std::span(ids_).subspan(entry.first, entry.count);
    }

    // Does nothing for long pieces, which rarely occur twice, and when the cache is full. The piece must not be empty.
    void insert(std::string_view piece, std::span<const std::int32_t> ids) {
        if (piece.size() > kMaxPiece || used_ >= kMaxPieces) return;
        if (2 * (used_ + 1) > entries_.size()) grow();
        entries_[place(piece)] = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(ids_.size()),
                                  static_cast<std::uint32_t>(piece.size()), static_cast<std::uint32_t>(ids.size())};
        text_ += piece;
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        ++used_;
    }

    std::size_t size() const { return used_; }

  private:
    struct Entry {
        std::uint32_t begin = 0, first = 0;  // in text_, in ids_
        std::uint32_t size = 0, count = 0;   // size and token count of the piece; size 0: a free slot
    };
    static constexpr std::size_t kMaxPiece = 64, kMaxPieces = 1 << 18;

    std::string_view text_of(const Entry& entry) const {
        return std::string_view(text_).substr(entry.begin, entry.size);
    }

    // The slot of the piece, or the free slot for it.
    std::size_t place(std::string_view piece) const {
        std::size_t i = std::hash<std::string_view>()(piece) & (entries_.size() - 1);
        while (entries_[i].size != 0 && text_of(entries_[i]) != piece) i = (i + 1) & (entries_.size() - 1);
        return i;
    }

    void grow() {
        std::vector<Entry> old(4 * entries_.size());
        old.swap(entries_);
        for (const Entry& entry : old)
            if (entry.size != 0) entries_[place(text_of(entry))] = entry;
    }

    std::vector<Entry> entries_ = std::vector<Entry>(256);
    std::string text_;
    std::vector<std::int32_t> ids_;
    std::size_t used_ = 0;
};

// Keeps the caches of earlier texts, for a series of short texts. Large caches are not kept.
class PieceCaches {
  public:
    PieceCache take() {
        const std::lock_guard lock(mutex_);
        if (kept_.empty()) return {};
        PieceCache last = std::move(kept_.back());
        kept_.pop_back();
        return last;
    }
    void give_back(PieceCache cache) {
        constexpr std::size_t kMaxPieces = 1 << 14;  // 1 MB
        if (cache.size() > kMaxPieces) return;
        const std::lock_guard lock(mutex_);
        kept_.push_back(std::move(cache));
    }

  private:
    std::mutex mutex_;
    std::vector<PieceCache> kept_;
};

}  // namespace inkling::data

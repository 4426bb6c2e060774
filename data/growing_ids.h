// A growing array of ids. realloc extends large blocks in place or remaps their pages; a std::vector would hold the old
// and the new block at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "data/token_view.h"

namespace inkling::data {

class GrowingIds {
  public:
    explicit GrowingIds(std::size_t vocab_size = SIZE_MAX) : bytes_each_(id_bytes(vocab_size)) {}

    void append(std::span<const std::int32_t> more) {
        if (more.empty()) return;
        if (size_ + more.size() > room_) {
            const std::size_t room = std::max(size_ + more.size(), room_ + room_ / 2);
            auto* const grown = static_cast<std::byte*>(std::realloc(data_.get(), room * bytes_each_));
            if (!grown) throw std::bad_alloc();
            static_cast<void>(data_.release());  // realloc has freed it
            data_.reset(grown);
            room_ = room;
        }
        if (bytes_each_ == 2)
            std::copy(more.begin(), more.end(), reinterpret_cast<std::uint16_t*>(data_.get()) + size_);
        else
            std::copy(more.begin(), more.end(), reinterpret_cast<std::int32_t*>(data_.get()) + size_);
        size_ += more.size();
    }
    TokenView ids() const { return {data_.get(), size_, bytes_each_}; }

  private:
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::size_t bytes_each_;
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace inkling::data

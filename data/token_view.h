// A view of token ids, of 2 bytes each if the vocabulary allows, else of 4. Like std::span, it is made from vectors and
// spans without a copy and valid as long as they are.
//   const TokenView ids = corpus.ids;
//   ids[i]   ids.size()   ids.first(n)   ids.subspan(begin, n).copy_to(row)
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace inkling::data {

// Bytes of an id in memory and in files.
constexpr std::size_t id_bytes(std::size_t vocab_size) { return vocab_size <= 65536 ? 2 : 4; }

class TokenView {
  public:
    TokenView() = default;
    template <class Ids>
    requires std::convertible_to<const Ids&, std::span<const std::int32_t>> &&
        (!std::same_as<Ids, TokenView>)TokenView(const Ids& ids)
        : TokenView(std::span<const std::int32_t>(ids).data(), std::size(ids), 4) {}
    TokenView(std::span<const std::uint16_t> ids) : TokenView(ids.data(), ids.size(), 2) {}
    TokenView(const void* data, std::size_t size, std::size_t bytes_each)
        : data_(data), size_(size), narrow_(bytes_each == 2) {}

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const void* data() const { return data_; }
    std::int32_t operator[](std::size_t i) const { return narrow_ ? narrow()[i] : wide()[i]; }

    TokenView first(std::size_t n) const { return subspan(0, n); }
    TokenView subspan(std::size_t begin) const { return subspan(begin, size_ - begin); }
    TokenView subspan(std::size_t begin, std::size_t n) const {
        return narrow_ ? TokenView(narrow() + begin, n, 2) : TokenView(wide() + begin, n, 4);
    }

    // `to` must have room for all.
    void copy_to(std::int32_t* to) const {
        narrow_ ? std::copy_n(narrow(), size_, to) : std::copy_n(wide(), size_, to);
    }

    // Calls use() with a std::span of the ids as they are stored.
    template <class Use>
    decltype(auto) visit(const Use& use) const {
        return narrow_ ? use(std::span(narrow(), size_)) : use(std::span(wide(), size_));
    }
    std::vector<std::int32_t> copy() const {
        return visit([](auto ids) { return std::vector<std::int32_t>(ids.begin(), ids.end()); });
    }

  private:
    const std::uint16_t* narrow() const { return static_cast<const std::uint16_t*>(data_); }
    const std::int32_t* wide() const { return static_cast<const std::int32_t*>(data_); }

    const void* data_ = nullptr;
    std::size_t size_ = 0;
    bool narrow_ = false;
};

// A growing array of ids. realloc extends large blocks in place or remaps their pages; a std::vector would hold the old
// and the new block at the same time.

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

// Fast 64-bit hashes to tell texts and files apart; not secure against an attacker.
//   ContentHash hash;
//   hash.add(text);                     // in pieces of any size
//   const std::uint64_t value = hash.value();
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace inkling::data {

class ContentHash {
  public:
    void add(std::string_view bytes) {
        size_ += bytes.size();
        while (!bytes.empty()) {
            if (held_ == 0 && bytes.size() >= block_.size()) {
                take(bytes.data());
                bytes.remove_prefix(block_.size());
                continue;
            }
            const std::size_t n = std::min(block_.size() - held_, bytes.size());
            std::memcpy(block_.data() + held_, bytes.data(), n);
            bytes.remove_prefix(n);
            held_ = (held_ + n) % block_.size();
            if (held_ == 0) take(block_.data());
        }
    }

    void add_number(std::uint64_t number) { add({reinterpret_cast<const char*>(&number), sizeof number}); }
    // One of several texts: where each ends matters.
    void add_text(std::string_view text) {
        add_number(text.size());
        add(text);
    }

    std::uint64_t value() const {
        ContentHash last = *this;
        if (held_ > 0) {
            std::memset(last.block_.data() + held_, 0, block_.size() - held_);
            last.take(last.block_.data());
        }
        std::uint64_t all = size_;
        for (const std::uint64_t lane : last.lanes_) all = mixed(all, lane);
        return all;
    }

  private:
    // FNV-1a by words: different words always give different numbers.
    static std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        return hash ^ (hash >> 29);
    }

    void take(const char* block) {
        for (std::size_t i = 0; i < lanes_.size(); ++i) {  // lanes in parallel, to hide the latency of products
            std::uint64_t word;
            std::memcpy(&word, block + 8 * i, 8);
            lanes_[i] = mixed(lanes_[i], word);
        }
    }

    std::array<std::uint64_t, 4> lanes_ = {1, 2, 3, 4};
    std::array<char, 32> block_ = {};
    std::size_t held_ = 0;
    std::uint64_t size_ = 0;
};

// FNV-1a, a 32-bit word at a time: a word that differs always changes the value. Checkpoints hold these hashes.
struct WordHash {
    std::uint64_t value = 1469598103934665603ull;

    void add(std::uint32_t word) { value = (value ^ word) * 1099511628211ull; }
    void add(std::string_view text) {
        for (const char c : text) add(static_cast<std::uint32_t>(static_cast<unsigned char>(c)));
        add(~0u);
    }
    void add(const float* values, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) add(std::bit_cast<std::uint32_t>(values[i]));
    }
};

}  // namespace inkling::data

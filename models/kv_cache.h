// The keys and values of a text's tokens in each layer, which the next token attends to. A layer with a window holds at
// most two windows.
//   KvCache cache(config);
//   cache.reserve(n);                // room for n tokens
//   KvCache other = cache;           // copies the keys and values, and goes on by itself
#pragma once

#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/base/names.h"
#include "models/architecture.h"

namespace inkling::models {

enum class CacheType { f32, f16 };  // how keys and values are stored: as computed, or rounded to half the memory
constexpr auto names(CacheType) { return name_table<CacheType>({{CacheType::f32, "f32"}, {CacheType::f16, "f16"}}); }

// Rows of keys or values as a cache stores them, one behind the other.
struct CachedRows {
    CachedRows(const float* rows, CacheType stored = CacheType::f32) : data(rows), type(stored) {}  // NOLINT: implicit
    const void* data;
    CacheType type;
};

class KvCache {
  public:
    explicit KvCache(const Architecture& config, CacheType type = CacheType::f32);
    // Bytes of a token in all layers; layers with a window hold no more than two windows.
    static std::size_t bytes_per_token(const Architecture& config, CacheType type);
    KvCache(const KvCache& other);
    KvCache(KvCache&&) = default;
    KvCache& operator=(const KvCache& other) { return *this = KvCache(other); }
    KvCache& operator=(KvCache&&) = default;

    std::size_t length() const { return length_; }  // tokens held
    std::size_t bytes() const;                      // of all keys and values, with the spare room
    void clear();
    void reserve(std::size_t n);  // makes room for tokens up to the n-th; comes before they are written
    // Writes the key and the value (d) at a position.
    void put(std::size_t layer, std::size_t head, std::size_t position, const float* key, const float* value);
    // The key or value at a position (d), in front of those at the next positions.
    CachedRows keys(std::size_t layer, std::size_t head, std::size_t position) {
        return {at(layers_[layer], layers_[layer].keys, head, position), type_};
    }
    CachedRows values(std::size_t layer, std::size_t head, std::size_t position) {
        return {at(layers_[layer], layers_[layer].values, head, position), type_};
    }

    // Writes the keys and values (1, kv heads, n, d) of the next n tokens, for which there is room, and returns those
    // that these tokens attend to: (1, kv heads, n and some before, d).
    std::pair<Tensor<float>, Tensor<float>> append(std::size_t layer, const Tensor<float>& k, const Tensor<float>& v);
    void advance(std::size_t n) noexcept;  // after append() to every layer: the next n tokens are held

    // The last token's rows that the next one gets a share of (token_shift): (1 + 2 layers, C), that of its vector,
    // then of each layer those that go into attention and feed-forward part; zeros in front of a text. next_shifted: of
    // the tokens that advance() will hold.
    Array<float> shifted, next_shifted;

  private:
    struct Layer {
        std::size_t window;                   // 0: all
        std::size_t first = 0;                // position of the first key
        Array<float> keys = {}, values = {};  // (1, kv heads, capacity, d); f16: two numbers in the place of one
        std::size_t capacity() const { return keys.defined() ? keys.dim(2) : 0; }
    };
    float* at(const Layer& l, Array<float>& x, std::size_t head, std::size_t position) const {
        return x.data() + (head * l.capacity() + position - l.first) * width_;
    }
    Array<float> moved(const ConstArray<float>& x, std::size_t begin, std::size_t end, std::size_t capacity) const;
    void store(const ConstArray<float>& x, Array<float>& all, std::size_t begin) const;
    Array<float> widened(const Array<float>& all, std::size_t begin, std::size_t end) const;

    CacheType type_;
    std::size_t heads_, head_size_, width_, most_;  // width_: floats that a row takes; most_: the context
    std::size_t length_ = 0;
    std::vector<Layer> layers_, next_;  // next_: layers that advance() replaces
};

}  // namespace inkling::models

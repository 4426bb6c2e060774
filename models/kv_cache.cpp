#include "models/kv_cache.h"

#include "engine/base/parallel.h"
#include "engine/kernels/half_row.h"
#include "engine/memory/buffer_pool.h"
#include "engine/ops.h"

namespace inkling::models {

static std::size_t width_of(const Architecture& config, CacheType type) {
    return type == CacheType::f16 ? (config.head_size() + 1) / 2 : config.head_size();
}

KvCache::KvCache(const Architecture& config, CacheType type)
    : type_(type),
      heads_(config.kv_heads()),
      head_size_(config.head_size()),
      width_(width_of(config, type)),
      most_(config.block_size) {
    for (std::size_t i = 0; i < config.n_layer; ++i) layers_.push_back({config.window_of(i)});
    if (config.token_shift) shifted = Array<float>({1 + 2 * config.n_layer, config.n_embd}, 0.0f);
}

std::size_t KvCache::bytes_per_token(const Architecture& config, CacheType type) {
    return config.n_layer * config.kv_heads() * width_of(config, type) * 2 * sizeof(float);
}

KvCache::KvCache(const KvCache& other)
    : type_(other.type_),
      heads_(other.heads_),
      head_size_(other.head_size_),
      width_(other.width_),
      most_(other.most_),
      length_(other.length_),
      layers_(other.layers_) {
    if (other.shifted.defined()) shifted = other.shifted.clone();
    for (Layer& l : layers_)
        for (Array<float>* const x : {&l.keys, &l.values})
            if (x->defined()) *x = x->clone();
}

std::size_t KvCache::bytes() const {
    std::size_t positions = 0;
    for (const Layer& l : layers_) positions += l.capacity();
    return positions * heads_ * width_ * 2 * sizeof(float);
}

void KvCache::clear() {
    length_ = 0;
    for (Layer& l : layers_) l.first = 0;
    if (shifted.defined()) std::fill_n(shifted.data(), shifted.size(), 0.0f);
}

// Positions [begin, end) of x at the front of a new array.
Array<float> KvCache::moved(const ConstArray<float>& x, std::size_t begin, std::size_t end,
                            std::size_t capacity) const {
    Array<float> y({1, heads_, capacity, width_});
    Array<float> front = y.sliced(2, 0, end - begin);
    if (begin < end) copy_into(front, x.sliced(2, begin, end));
    return y;
}

// Writes x (1, kv heads, n, d) to positions [begin, begin + n) of `all`.
void KvCache::store(const ConstArray<float>& x, Array<float>& all, std::size_t begin) const {
    const std::size_t n = x.dim(2), capacity = all.dim(2);
    if (type_ == CacheType::f32) {
        Array<float> place = all.sliced(2, begin, begin + n);
        return copy_into(place, x);
    }
    const ConstArray<float> rows = x.contiguous();
    float* const out = all.data();
    parallel_rows(heads_ * n, head_size_, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r)
            round_row(head_size_, rows.data() + r * head_size_,
                      reinterpret_cast<std::uint16_t*>(out + (r / n * capacity + begin + r % n) * width_));
    });
}

// Positions [begin, end) of `all` as float32 (1, kv heads, end - begin, d): a view, or a copy.
Array<float> KvCache::widened(const Array<float>& all, std::size_t begin, std::size_t end) const {
    if (type_ == CacheType::f32) return all.sliced(2, begin, end);
    const std::size_t n = end - begin, capacity = all.dim(2);
    Array<float> y({1, heads_, n, head_size_});
    const float* const from = ConstArray<float>(all).data();
    float* const out = y.data();
    parallel_rows(heads_ * n, head_size_, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r)
            widen_row(head_size_,
                      reinterpret_cast<const std::uint16_t*>(from + (r / n * capacity + begin + r % n) * width_),
                      out + r * head_size_);
    });
    return y;
}

void KvCache::put(std::size_t layer, std::size_t head, std::size_t position, const float* key, const float* value) {
    Layer& l = layers_[layer];
    for (const auto& [all, row] : {std::pair{&l.keys, key}, {&l.values, value}}) {
        float* const place = at(l, *all, head, position);
        if (type_ == CacheType::f32)
            std::copy_n(row, head_size_, place);
        else
            round_row(head_size_, row, reinterpret_cast<std::uint16_t*>(place));
    }
}

void KvCache::reserve(std::size_t n) {
    check(n <= most_, "KvCache: expected at most the context of {} tokens, got {}", most_, n);
    next_.assign(layers_.size(), {0});
    for (Layer& l : layers_) {
        if (n <= l.first + l.capacity()) continue;
        const std::size_t before = l.capacity(), held = length_ - l.first,
                          all = std::max({n, before + before / 4, std::size_t{64}}),
                          kept = l.window > 0 ? std::min(held, l.window - 1) : held,
                          capacity = std::min(most_, l.window > 0 ? std::min(all, 2 * l.window) : all);
        if (capacity == before && held < capacity) continue;  // append() takes more than two windows
        const auto grown = [&](const Array<float>& x) { return moved(x, held - kept, held, capacity); };
        l = {l.window, length_ - kept, grown(l.keys), grown(l.values)};  // both, or neither if memory runs out
        if (before > 0 && capacity != before) release_cached_buffers();  // no other layer fits into the old ones
    }
}

std::pair<Tensor<float>, Tensor<float>> KvCache::append(std::size_t layer, const Tensor<float>& k,
                                                        const Tensor<float>& v) {
    Layer& l = layers_[layer];
    const std::size_t held = length_ - l.first, n = k.dim(2), end = held + n;
    if (end <= l.capacity()) {
        const auto put_all = [&](Array<float>& all, const Tensor<float>& x) {
            store(x.value(), all, held);
            return Tensor<float>(widened(all, 0, end));
        };
        return {put_all(l.keys, k), put_all(l.values, v)};
    }
    // More than two windows: these tokens attend to all keys, and the cache keeps the last window for the next tokens.
    const auto join = [&](const Array<float>& all, const Tensor<float>& x) {
        Tensor<float> rows = x;
        if (type_ == CacheType::f16) {
            Array<float> stored({1, heads_, n, width_});
            store(x.value(), stored, 0);
            rows = Tensor<float>(widened(stored, 0, n));
        }
        return held == 0 ? rows : concatenate({Tensor<float>(widened(all, 0, held)), rows}, 2);
    };
    const std::size_t kept = std::min(end, l.window - 1);
    const Tensor<float> keys = join(l.keys, k), values = join(l.values, v);
    const auto last = [&](const Tensor<float>& x) {
        Array<float> y({1, heads_, l.capacity(), width_});
        if (kept > 0) store(x.value().sliced(2, end - kept, end), y, 0);
        return y;
    };
    next_[layer] = {l.window, length_ + n - kept, last(keys), last(values)};
    return {keys, values};
}

void KvCache::advance(std::size_t n) noexcept {
    length_ += n;
    if (next_shifted.defined()) shifted = std::exchange(next_shifted, {});
    for (std::size_t i = 0; i < layers_.size(); ++i)
        if (next_[i].keys.defined()) layers_[i] = std::exchange(next_[i], {0});
}

}  // namespace inkling::models

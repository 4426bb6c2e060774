#include "models/kv_cache.h"

#include "engine/memory/buffer_pool.h"
#include "engine/ops.h"

namespace inkling::models {

KvCache::KvCache(const Architecture& config)
    : heads_(config.kv_heads()), head_size_(config.head_size()), most_(config.block_size) {
    for (std::size_t i = 0; i < config.n_layer; ++i) layers_.push_back({config.window_of(i)});
    if (config.token_shift) shifted = Array<float>({1 + 2 * config.n_layer, config.n_embd}, 0.0f);
}

KvCache::KvCache(const KvCache& other)
    : heads_(other.heads_),
      head_size_(other.head_size_),
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
    return positions * heads_ * head_size_ * 2 * sizeof(float);
}

void KvCache::clear() {
    length_ = 0;
    for (Layer& l : layers_) l.first = 0;
    if (shifted.defined()) std::fill_n(shifted.data(), shifted.size(), 0.0f);
}

// Positions [begin, end) of x at the front of a new array.
Array<float> KvCache::moved(const ConstArray<float>& x, std::size_t begin, std::size_t end,
                            std::size_t capacity) const {
    Array<float> y({1, heads_, capacity, head_size_});
    Array<float> front = y.sliced(2, 0, end - begin);
    if (begin < end) copy_into(front, x.sliced(2, begin, end));
    return y;
}

void KvCache::reserve(std::size_t n) {
    check(n <= most_, "KvCache: room for at most the context of {} tokens is required, got {}", most_, n);
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
    const Layer& l = layers_[layer];
    const std::size_t held = length_ - l.first, n = k.dim(2), end = held + n;
    if (end <= l.capacity()) {
        const auto put = [&](const Array<float>& all, const Tensor<float>& x) {
            Array<float> place = all.sliced(2, held, end);
            copy_into(place, x.value());
            return Tensor<float>(all.sliced(2, 0, end));
        };
        return {put(l.keys, k), put(l.values, v)};
    }
    // More than two windows: these tokens attend to all keys, and the cache keeps the last window for the next tokens.
    const auto join = [&](const Array<float>& all, const Tensor<float>& x) {
        return held == 0 ? x : concatenate({Tensor<float>(all.sliced(2, 0, held)), x}, 2);
    };
    const std::size_t kept = std::min(end, l.window - 1);
    const Tensor<float> keys = join(l.keys, k), values = join(l.values, v);
    const auto last = [&](const Tensor<float>& x) { return moved(x.value(), end - kept, end, l.capacity()); };
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

#include "models/decoder/kv_cache.h"

namespace inkling::models {

KvCache::KvCache(const Architecture& config)
    : heads_(config.kv_heads()),
      head_size_(config.head_size()),
      most_(config.block_size),
      keys_(config.n_layer),
      values_(config.n_layer) {}

void KvCache::reserve(std::size_t n) {
    check(n <= most_, "KvCache: room for at most the context of {} tokens is required, got {}", most_, n);
    if (n <= capacity_) return;
    capacity_ = std::min(most_, std::max({n, 2 * capacity_, std::size_t{64}}));
    for (auto* const arrays : {&keys_, &values_}) {
        for (Array<float>& old : *arrays) {
            Array<float> larger({1, heads_, capacity_, head_size_});
            if (length_ > 0) {
                Array<float> kept = larger.sliced(2, 0, length_);
                copy_into(kept, old.sliced(2, 0, length_));
            }
            old = larger;
        }
    }
}

float* KvCache::keys(std::size_t layer, std::size_t head) {
    return keys_[layer].data() + head * capacity_ * head_size_;
}

float* KvCache::values(std::size_t layer, std::size_t head) {
    return values_[layer].data() + head * capacity_ * head_size_;
}

KvCache KvCache::clone() const {
    KvCache copy = *this;
    for (auto* const arrays : {&copy.keys_, &copy.values_})
        for (Array<float>& a : *arrays)
            if (a.defined()) a = a.clone();
    return copy;
}

}  // namespace inkling::models

#include "models/kv_cache.h"

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

template <class T>
std::pair<Tensor<T>, Tensor<T>> KvCache::append(std::size_t layer, const Tensor<T>& k, const Tensor<T>& v) {
    if constexpr (std::is_same_v<T, float>) {
        const auto put = [&](const Array<float>& all, const Tensor<float>& x) {
            const std::size_t end = length_ + x.dim(2);
            Array<float> place = all.sliced(2, length_, end);
            copy_into(place, x.value());
            return Tensor<float>(all.sliced(2, 0, end));
        };
        return {put(keys_[layer], k), put(values_[layer], v)};
    }
    throw Error("KvCache: keys and values must be float32");
}

KvCache KvCache::clone() const {
    KvCache copy = *this;
    for (auto* const arrays : {&copy.keys_, &copy.values_})
        for (Array<float>& a : *arrays)
            if (a.defined()) a = a.clone();
    return copy;
}

template std::pair<Tensor<float>, Tensor<float>> KvCache::append(std::size_t, const Tensor<float>&,
                                                                 const Tensor<float>&);
template std::pair<Tensor<double>, Tensor<double>> KvCache::append(std::size_t, const Tensor<double>&,
                                                                   const Tensor<double>&);

}  // namespace inkling::models

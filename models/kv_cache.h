// Keys and values of the tokens that a text has so far, for each layer: what a next token looks at.
//   KvCache cache(config);
//   cache.reserve(n);                // room for n tokens
//   KvCache other = cache.clone();   // goes on by itself
#pragma once

#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"
#include "models/architecture.h"

namespace inkling::models {

class KvCache {
  public:
    explicit KvCache(const Architecture& config);

    std::size_t length() const { return length_; }     // tokens held
    void set_length(std::size_t n) { length_ = n; }    // the first n; reserve comes before
    void reserve(std::size_t n);                       // keeps what is held
    float* keys(std::size_t layer, std::size_t head);  // (length, d) and room behind, contiguous
    float* values(std::size_t layer, std::size_t head);

    // Writes the keys and values (1, kv heads, n, d) of the next n tokens, for which there is room, behind those held,
    // and returns all: (1, kv heads, length + n, d). The length stays, until every layer has its own.
    template <class T>
    std::pair<Tensor<T>, Tensor<T>> append(std::size_t layer, const Tensor<T>& k, const Tensor<T>& v);

    KvCache clone() const;

  private:
    std::size_t heads_, head_size_, most_;  // most_: the context
    std::size_t capacity_ = 0, length_ = 0;
    std::vector<Array<float>> keys_, values_;  // of each layer: (1, kv heads, capacity, d)
};

}  // namespace inkling::models

// Attention of one token over a cache. The queries (G, d) of heads that share their keys and values (n, d):
//   scores[g, j] = scale q[g] . k[j]
//   y[g] = sum_j softmax(scores[g])[j] v[j]
// Each key and each value comes from memory once for all G. An element's bits depend neither on the range nor on G, so
// threads share the positions of the first and the columns of the second.
#pragma once

#include <cstddef>

#include "models/kv_cache.h"

namespace inkling::models {

// Threads share columns by whole cache lines, and vectors that lie across lines take half as long again.
inline constexpr std::size_t kColumns = 64 / sizeof(float);
constexpr std::size_t whole_lines(std::size_t n) { return (n + kColumns - 1) / kColumns * kColumns; }

struct HeadShape {
    std::size_t queries, size;  // G, d
    std::size_t stride;         // from one query's scores to the next's: at least n, whole lines

    std::size_t room() const { return queries * (stride + 2 * whole_lines(size)); }  // of attention_values
};

// scores[g stride + j] for j in [begin, end).
void attention_scores(const HeadShape& head, const float* q, CachedRows keys, std::size_t begin, std::size_t end,
                      float scale, float* scores);

// Columns [begin, end) of y (G, d). begin starts a cache line; `room` is scratch of the caller's.
void attention_values(const HeadShape& head, const float* scores, std::size_t n, CachedRows values, std::size_t begin,
                      std::size_t end, float* room, float* y);

}  // namespace inkling::models

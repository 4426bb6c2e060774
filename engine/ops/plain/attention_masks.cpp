#include "engine/ops/plain/attention_masks.h"

namespace inkling {

Documents::Documents(const IdArray& given) : begins(given.defined() ? given.clone() : given) {
    if (!begins.defined()) return;
    check(begins.rank() == 2, "attention: expected begins (B, L), got {}", begins.shape());
    positions = IdArray(begins.shape());
    const std::size_t L = begins.dim(1);
    for (std::size_t row = 0; row < begins.dim(0); ++row) {
        for (std::size_t i = 0; i < L; ++i) {
            const std::int32_t begin = begins(row, i), here = static_cast<std::int32_t>(i);
            check(begin == here || (i > 0 && begin == begins(row, i - 1)),
                  "attention: position {} of row {} is where its document begins, or is of the document of the one "
                  "before: got {}",
                  i, row, begin);
            positions(row, i) = here - begin;
        }
    }
}

void AttentionOptions::drop(const char* layer, double probability, Generator* random) {
    if (probability == 0) return;
    check(random, "{}: training with dropout needs random numbers: pass a Generator, or call eval()", layer);
    dropout = probability;
    dropout_key = random->next();
}

MaskArray look_ahead_mask(std::size_t queries, std::size_t keys) {
    return window_mask(queries, keys, keys).reshaped({1, 1, queries, keys});
}

MaskArray window_mask(std::size_t queries, std::size_t keys, std::size_t window) {
    check(queries <= keys, "causal attention: a query must have a key of its own, got {} queries for {} keys", queries,
          keys);
    MaskArray mask({queries, keys});
    for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t j = 0; j < keys; ++j) {
            const std::size_t here = i + keys - queries;
            mask(i, j) = j <= here && here - j < window;
        }
    return mask;
}

MaskArray document_mask(const IdArray& begins) {
    check(begins.rank() == 2, "document_mask: expected begins (B, L), got {}", begins.shape());
    const std::size_t B = begins.dim(0), L = begins.dim(1);
    MaskArray mask({B, 1, L, L}, 0);
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t i = 0; i < L; ++i)
            for (auto j = static_cast<std::size_t>(begins(b, i)); j <= i; ++j) mask(b, 0, i, j) = 1;
    return mask;
}

template <class T>
Array<T> alibi_bias(const std::vector<double>& slopes, std::size_t queries, std::size_t keys) {
    check(queries <= keys, "alibi_bias: a query must have a key of its own, got {} queries for {} keys", queries, keys);
    Array<T> bias({1, slopes.size(), queries, keys});
    T* out = bias.data();
    for (std::size_t h = 0; h < slopes.size(); ++h) {
        for (std::size_t i = 0; i < queries; ++i) {
            for (std::size_t j = 0; j < keys; ++j) {
                const double distance = static_cast<double>(i + keys - queries) - static_cast<double>(j);
                *out++ = static_cast<T>(-slopes[h] * distance);
            }
        }
    }
    return bias;
}

template Array<float> alibi_bias(const std::vector<double>&, std::size_t, std::size_t);
template Array<double> alibi_bias(const std::vector<double>&, std::size_t, std::size_t);

}  // namespace inkling

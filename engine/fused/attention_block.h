// Shared by forward and backward of attention: sizes, the scores of a block, and a thread's scratch memory.
#pragma once

#include <bit>
#include <numeric>

#include "engine/fused/attention.h"
#include "engine/kernels/simd.h"
#include "engine/kernels/tile_product.h"
#include "engine/memory/buffer_pool.h"

namespace inkling {

constexpr std::size_t kRows = 32;   // queries at a time
constexpr std::size_t kKeys = 512;  // keys at a time
constexpr std::size_t kSkip = 16;   // keys before a window are skipped in multiples of this
constexpr std::size_t kStrip = 8;   // queries at a time in a product, which then ends near the diagonal

template <class T>
struct AttentionShape {
    std::size_t B, H, K, Lq, Lk, d, dv;  // K: heads of keys and values
    AttentionOptions options;
    T scale;
    ConstArray<std::uint8_t> mask;  // broadcast to (B, H, Lq, Lk), if defined
    // For one of several documents in a row of `whole` positions: `begin` is its start, Lq and Lk its length.
    std::size_t begin = 0, whole = 0;

    // Calls body(part, begin) for each document of row b; without documents, once for the whole row.
    template <class Body>
    void for_documents(std::size_t b, const Body& body) const {
        if (!options.documents.begins.defined()) return body(*this, std::size_t{0});
        AttentionShape part = *this;
        const std::int32_t* const begins = options.documents.begins.data() + b * Lq;
        part.whole = Lq;
        for (std::size_t i = 0, end = 0; i < Lq; i = end) {
            while (end < Lq && begins[end] == begins[i]) ++end;
            part.begin = i;
            part.Lq = part.Lk = end - i;
            body(part, i);
        }
    }

    std::size_t group() const { return K > 0 ? H / K : 1; }  // query heads per key head
    // The first key that query i sees; later queries see none before it.
    std::size_t first_seen(std::size_t i) const {
        const std::size_t end = seen(i + 1);
        return options.window && end > options.window ? end - options.window : 0;
    }
    // The start of the first block of keys that query i, or a later one, sees.
    std::size_t first_block(std::size_t i) const { return first_seen(i) / kKeys * kKeys; }
    // The distance between rows of a block of scores. It is not a power of two, which would map the rows to few sets
    // of the cache.
    std::size_t score_row() const { return whole_vectors<T>(std::min(Lk, kKeys)) + Vec<T>::size; }
    // Keys that queries before `end` may see.
    std::size_t seen(std::size_t end) const { return options.causal ? end + Lk - Lq : Lk; }
    // Pairs of a query and a key that it may see: a causal query sees one key more than the one before, up to a window.
    double seen_pairs() const {
        if (!options.causal) return static_cast<double>(Lq) * static_cast<double>(Lk);
        const auto first_queries = [&](std::size_t n) {
            const auto all = static_cast<double>(n);
            const double most = options.window ? std::min(all, static_cast<double>(options.window)) : all;
            return most * (most + 1) / 2 + (all - most) * most;
        };
        return first_queries(Lk) - first_queries(Lk - Lq);
    }
    // The number of keys in [j0, j1) that are not in the future of query i.
    std::size_t width(std::size_t i, std::size_t j0, std::size_t j1) const {
        return std::min(j1, std::max(j0, seen(i + 1))) - j0;
    }

    // The number of these keys before the first that it sees.
    std::size_t skipped(std::size_t i, std::size_t j0, std::size_t width) const {
        return std::min(std::max(first_seen(i), j0) - j0, width);
    }
    // The same, rounded down to whole vectors and pairs, and never all keys.
    std::size_t aligned_skip(std::size_t i, std::size_t j0, std::size_t width) const {
        return std::min(skipped(i, j0, width), width - 1) / kSkip * kSkip;
    }

    // Calls body(i, count, skip, width): queries i .. i + count of [i0, i1) see at most keys j0 + skip .. j0 + width of
    // [j0, j1).
    template <class Body>
    void for_strips(std::size_t i0, std::size_t i1, std::size_t j0, std::size_t j1, const Body& body) const {
        for (std::size_t i = i0; i < i1; i += kStrip) {
            const std::size_t count = std::min(kStrip, i1 - i);
            const std::size_t n = width(i + count - 1, j0, j1);
            body(i, count, aligned_skip(i, j0, n), n);
        }
    }

    // Turns products q . k of row i with n keys from j0 into scores, -inf where blocked, except for the returned
    // factor: the scale, if they need no other change.
    T finish_scores(std::size_t b, std::size_t h, std::size_t i, std::size_t j0, std::size_t n, T* scores) const {
        if (options.alibi.empty() && !mask.defined() && scale > 0) return scale;
        simd_map(n, scores, {scores}, [v = Vec<T>(scale)](auto x) { return x * v; });
        if (!options.alibi.empty()) {
            const double here = static_cast<double>(i + Lk - Lq);
            for (std::size_t j = 0; j < n; ++j) {
                scores[j] -= static_cast<T>(options.alibi[h] * (here - static_cast<double>(j0 + j)));
            }
        }
        if (!mask.defined()) return T{1};
        const auto& s = mask.strides();
        const auto at = [](std::size_t index, std::ptrdiff_t stride) {
            return static_cast<std::ptrdiff_t>(index) * stride;
        };
        const std::uint8_t* flag = mask.data() + at(b, s[0]) + at(h, s[1]) + at(i, s[2]) + at(j0, s[3]);
        for (std::size_t j = 0; j < n; ++j, flag += s[3]) {
            if (!*flag) scores[j] = -std::numeric_limits<T>::infinity();
        }
        return T{1};
    }

    // Whether query i sees any key.
    bool sees_any(std::size_t b, std::size_t h, std::size_t i) const {
        if (!mask.defined()) return true;
        for (std::size_t j = first_seen(i); j < seen(i + 1); ++j) {
            if (mask(b, h, i, j)) return true;
        }
        return false;
    }

    // The dropout factors of row i, keys j0 .. j0 + n: 0, or 1 / (1 - p).
    void drop_factors(std::size_t b, std::size_t h, std::size_t i, std::size_t j0, std::size_t n, T* factors) const {
        std::uint32_t words[kKeys];
        const std::size_t rows = whole ? whole : Lq, columns = whole ? whole : Lk;
        const std::uint64_t row = (static_cast<std::uint64_t>(b) * H + h) * rows + begin + i;
        const std::uint64_t first = row * columns + begin + j0;
        random_words_range(options.dropout_key, first, n, words);
        const std::uint32_t threshold = dropout_threshold(options.dropout);
        const T keep = static_cast<T>(1.0 / (1.0 - options.dropout));
        for (std::size_t j = 0; j < n; ++j) factors[j] = words[j] >= threshold ? keep : T{0};
    }

    // Calls body(key, weight) for a fully masked query with uniform weights.
    template <class Body>
    void for_even_weights(std::size_t b, std::size_t h, std::size_t i, const Body& body) const {
        if (options.masked != Masked::uniform) return;
        for (std::size_t j0 = 0; j0 < Lk; j0 += kKeys) {
            const std::size_t n = std::min(kKeys, Lk - j0);
            T factors[kKeys];
            std::fill_n(factors, n, T{1});
            if (options.dropout > 0) drop_factors(b, h, i, j0, n, factors);
            for (std::size_t j = 0; j < n; ++j) body(j0 + j, Vec<T>(factors[j] / static_cast<T>(Lk)));
        }
    }
};

// The scratch memory of one thread. The sizes suit FloatOperands; PairOperands need no more.
template <class T>
struct Scratch {
    T *kt, *vt, *s, *dp, *operands, *sums;  // vt, dp, and sums (of a group's dK and dV) are for backward

    Scratch(const AttentionShape<T>& p, bool backward) {
        const std::size_t keys = whole_vectors<T>(p.Lk), scores = kRows * p.score_row();
        const std::size_t packed = (p.Lq + p.Lk) * (p.d + p.dv) * 2 + 4 * kRows * kKeys;
        const std::size_t pairs = static_cast<std::size_t>(std::bit_width(p.group() - 1));  // that wait for a sum
        const std::size_t sizes[] = {p.d * keys, backward ? p.dv * keys : 0,
                                     scores,     backward ? scores : 0,
                                     packed,     backward ? pairs * p.Lk * (p.d + p.dv) : 0};
        T* next = static_cast<T*>(thread_memory(std::accumulate(sizes, sizes + 6, std::size_t{0}) * sizeof(T)));
        T** const places[] = {&kt, &vt, &s, &dp, &operands, &sums};  // all but the last consist of whole vectors
        for (std::size_t i = 0; i < 6; ++i) *places[i] = next, next += sizes[i];
    }
};

// Hands out pieces of a thread's scratch memory for packed operands.
template <class E>
class ScratchPieces {
  public:
    template <class T>
    explicit ScratchPieces(T* memory) : next_(reinterpret_cast<E*>(memory)) {
        static_assert(sizeof(E) == sizeof(T));
    }
    E* take(std::size_t elements) {
        E* const piece = next_;
        next_ += (elements + 15) / 16 * 16;
        return piece;
    }

  private:
    E* next_;
};

}  // namespace inkling

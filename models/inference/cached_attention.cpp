#include "models/inference/cached_attention.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/half_row.h"
#include "engine/kernels/lanes.h"
#include "engine/memory/buffer_pool.h"

namespace inkling::models {
namespace {

constexpr std::size_t W = Vec<float>::size;
constexpr std::size_t kBlockRows = 64;  // values that stay in L1 while all queries and columns go over them; even
constexpr std::size_t kAhead = 4096;    // bytes of keys that are prefetched: the CPU's own prefetching is late

// sums[i] += sum over even j of weights[j] values[j, i], and odd_sums[i] over odd j: N vectors of columns, which
// load(p) reads.
template <std::size_t N, class Load>
inline void add_rows(const float* weights, const float* values, std::size_t rows, std::size_t d, float* sums,
                     float* odd_sums, const Load& load) {
    Vec<float> even[N], odd[N];
    for (std::size_t k = 0; k < N; ++k) {
        even[k] = Vec<float>::load_aligned(sums + k * W);
        odd[k] = Vec<float>::load_aligned(odd_sums + k * W);
    }
    const auto add = [&](std::size_t j, Vec<float>(&to)[N]) {
        for (std::size_t k = 0; k < N; ++k)
            to[k] = multiply_add(Vec<float>(weights[j]), load(values + j * d + k * W), to[k]);
    };
    std::size_t j = 0;
    for (; j + 2 <= rows; j += 2) add(j, even), add(j + 1, odd);
    if (j < rows) add(j, even);
    for (std::size_t k = 0; k < N; ++k) {
        even[k].store_aligned(sums + k * W);
        odd[k].store_aligned(odd_sums + k * W);
    }
}

// The same for columns [first, last).
void add_block(const float* weights, const float* values, std::size_t rows, std::size_t d, std::size_t first,
               std::size_t last, float* sums, float* odd_sums) {
    for (std::size_t i = first; i < last;) {
        const std::size_t left = last - i;
        const auto columns = [&](auto N, const auto& load) {
            add_rows<decltype(N)::value>(weights, values + i, rows, d, sums + i, odd_sums + i, load);
            i += N * W;
        };
        const auto whole = [](const float* p) { return Vec<float>::load_unaligned(p); };
        if (left >= 4 * W) {
            columns(std::integral_constant<std::size_t, 4>{}, whole);
        } else if (left >= 2 * W) {
            columns(std::integral_constant<std::size_t, 2>{}, whole);
        } else if (left >= W) {
            columns(std::integral_constant<std::size_t, 1>{}, whole);
        } else {
            columns(std::integral_constant<std::size_t, 1>{}, [left](const float* p) { return load_part(p, left); });
        }
    }
}

// Rows (n, d) as float32, at most `most` of them at a time: themselves, or columns of them widened.
class WideRows {
  public:
    WideRows(CachedRows rows, std::size_t d, std::size_t most) : rows_(rows), d_(d) {
        if (rows.type == CacheType::f16) room_ = static_cast<float*>(thread_memory(most * d * sizeof(float)));
    }
    const float* at(std::size_t row, std::size_t end, std::size_t first, std::size_t last) const {
        if (rows_.type == CacheType::f32) return static_cast<const float*>(rows_.data) + row * d_;
        const std::size_t stride = (d_ + 1) / 2 * 2;
        const auto* const halves = static_cast<const std::uint16_t*>(rows_.data);
        for (std::size_t r = row; r < end; ++r)
            widen_row(last - first, halves + r * stride + first, room_ + (r - row) * d_ + first);
        return room_;
    }
    void prefetch(std::size_t row, std::size_t end) const {
        const std::size_t width = rows_.type == CacheType::f32 ? d_ * sizeof(float) : (d_ + 1) / 2 * sizeof(float);
        const auto* const bytes = static_cast<const char*>(rows_.data) + row * width;
        for (std::size_t i = 0; i < (end - row) * width; i += 64) __builtin_prefetch(bytes + kAhead + i, 0, 2);
    }

  private:
    CachedRows rows_;
    std::size_t d_;
    float* room_ = nullptr;
};

}  // namespace

void attention_scores(const HeadShape& head, const float* q, CachedRows keys, std::size_t begin, std::size_t end,
                      float scale, float* scores) {
    const std::size_t d = head.size;
    const WideRows wide(keys, d, W);
    const auto product = [](auto sum, auto a, auto b) { return multiply_add(a, b, sum); };
    const auto add = [](const auto& a, const auto& b) { return a + b; };
    std::size_t j = begin;
    for (; j + W <= end; j += W) {
        wide.prefetch(j, j + W);
        const float* const block = wide.at(j, j + W, 0, d);
        for (std::size_t g = 0; g < head.queries; ++g) {
            Native<float> rows[W];
            for (std::size_t r = 0; r < W; ++r) {
                rows[r] = fold_vectors(simd_partial_sums(d, {q + g * d, block + r * d}, product), add);
            }
            const auto sums = sums_of_lanes<float>(rows, std::make_integer_sequence<int, static_cast<int>(W)>{});
            (Vec<float>(scale) * from_native<float>(sums)).store_unaligned(scores + g * head.stride + j);
        }
    }
    for (; j < end; ++j) {
        const float* const key = wide.at(j, j + 1, 0, d);
        for (std::size_t g = 0; g < head.queries; ++g)
            scores[g * head.stride + j] = scale * simd_dot(d, q + g * d, key);
    }
}

void attention_values(const HeadShape& head, const float* scores, std::size_t n, CachedRows values, std::size_t begin,
                      std::size_t end, float* room, float* y) {
    const std::size_t G = head.queries, width = whole_lines(head.size);
    float *const sums = room, *const weights = sums + 2 * G * width;
    std::fill_n(sums, 2 * G * width, 0.0f);
    for (std::size_t g = 0; g < G; ++g) {
        const float* const s = scores + g * head.stride;
        simd_map(n, weights + g * head.stride, {s},
                 [top = Vec<float>(simd_max(n, s))](auto v) { return portable::exp(v - top); });
    }
    const WideRows wide(values, head.size, kBlockRows);
    for (std::size_t j = 0; j < n; j += kBlockRows) {
        const std::size_t rows = std::min(n - j, kBlockRows);
        const float* const block = wide.at(j, j + rows, begin, end);
        for (std::size_t g = 0; g < G; ++g) {
            float* const sum = sums + 2 * g * width;
            add_block(weights + g * head.stride + j, block, rows, head.size, begin, end, sum, sum + width);
        }
    }
    for (std::size_t g = 0; g < G; ++g) {
        const Vec<float> inverse(1.0f / simd_sum(n, weights + g * head.stride));
        const float* const sum = sums + 2 * g * width + begin;
        simd_map(end - begin, y + g * head.size + begin, {sum, sum + width},
                 [=](auto even, auto odd) { return (even + odd) * inverse; });
    }
}

}  // namespace inkling::models

#include "nn/attention/masks.h"

#include <bit>
#include <cmath>

#include "engine/base/portable_math.h"
#include "engine/ops/elementwise/mask.h"
#include "engine/ops/reduce/softmax.h"

namespace inkling::nn {

MaskArray padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys) {
    MaskArray mask({lengths.size(), 1, 1, keys});
    for (std::size_t b = 0; b < lengths.size(); ++b) {
        check(lengths[b] <= keys, "padding_mask: a length must not exceed the {} keys, got {} for sequence {}", keys,
              lengths[b], b);
        for (std::size_t j = 0; j < keys; ++j) mask.data()[b * keys + j] = j < lengths[b];
    }
    return mask;
}

template <class T>
Tensor<T> sequence_mask(const Tensor<T>& x, const ValidLengths& valid_lens, double value) {
    check(x.rank() == 3, "sequence_mask: expected x (B, Lq, Lk), got shape {}", x.shape());
    const std::size_t B = x.dim(0), Lq = x.dim(1), Lk = x.dim(2);
    const bool per_query = valid_lens.rank() == 2;
    check(valid_lens.shape() == (per_query ? Shape{B, Lq} : Shape{B}),
          "sequence_mask: expected valid lengths (B) or (B, Lq), got {} for x {}", valid_lens.shape(), x.shape());
    const ValidLengths lengths = valid_lens.contiguous();
    MaskArray beyond(per_query ? Shape{B, Lq, Lk} : Shape{B, 1, Lk});
    for (std::size_t r = 0; r < lengths.size(); ++r) {
        const std::int32_t length = lengths.data()[r];
        check(length >= 0 && static_cast<std::size_t>(length) <= Lk,
              "sequence_mask: expected valid lengths from 0 to the {} keys, got {} for x {}", Lk, length, x.shape());
        for (std::size_t j = 0; j < Lk; ++j) beyond.data()[r * Lk + j] = j >= static_cast<std::size_t>(length);
    }
    return masked_fill(x, beyond, value);
}

template <class T>
Tensor<T> masked_softmax(const Tensor<T>& x, const ValidLengths& valid_lens) {
    return softmax(valid_lens.defined() ? sequence_mask(x, valid_lens, -1e6) : x);
}

std::vector<double> alibi_slopes(std::size_t heads) {
    check(heads > 0, "alibi_slopes: expected at least one head, got {}", heads);
    const std::size_t power = std::bit_floor(heads);
    const auto slope = [](std::size_t i, std::size_t of) {
        return portable::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(of));
    };
    std::vector<double> slopes;
    for (std::size_t i = 1; i <= power; ++i) slopes.push_back(slope(i, power));
    for (std::size_t i = 1; slopes.size() < heads; i += 2) slopes.push_back(slope(i, 2 * power));
    return slopes;
}

#define INKLING_INSTANTIATE(T)                                                       \
    template Tensor<T> sequence_mask(const Tensor<T>&, const ValidLengths&, double); \
    template Tensor<T> masked_softmax(const Tensor<T>&, const ValidLengths&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling::nn

#include "nn/attention/alibi.h"

#include <bit>
#include <cmath>

namespace inkling::nn {

std::vector<double> alibi_slopes(std::size_t heads) {
    check(heads > 0, "alibi_slopes: at least one head is required, got {}", heads);
    const std::size_t power = std::bit_floor(heads);
    const auto slope = [](std::size_t i, std::size_t of) {
        return std::pow(2.0, -8.0 * static_cast<double>(i) / static_cast<double>(of));
    };
    std::vector<double> slopes;
    for (std::size_t i = 1; i <= power; ++i) slopes.push_back(slope(i, power));
    for (std::size_t i = 1; slopes.size() < heads; i += 2) slopes.push_back(slope(i, 2 * power));
    return slopes;
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

}  // namespace inkling::nn

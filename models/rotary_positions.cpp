#include "models/rotary_positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "engine/ops.h"

namespace inkling::models {
namespace {

// For all numbers of a head, those that are not rotated as well: y = x cos + swapped(x) sin, (rows, d) each.
template <class T>
struct Tables {
    Tensor<T> cos, sin;
};

// All layers of a model need the same tables, so the last ones are kept.
template <class T>
const Tables<T>& tables(const Architecture& a, std::size_t start, std::size_t rows) {
    const std::size_t d = a.head_size(), r = a.rotary_size(), half = r / 2;
    const auto key = std::make_tuple(start, rows, d, rotary_rates(a), a.rope_clockwise);
    static thread_local decltype(std::make_tuple(start, rows, d, std::vector<double>(), true)) last;
    static thread_local Tables<T> kept;
    if (key == last && kept.cos.defined()) return kept;
    const std::vector<T> angles = rotary_table<T>(a, start, rows);
    Array<T> cos({rows, d}), sin({rows, d});
    for (std::size_t p = 0; p < rows; ++p) {
        for (std::size_t i = 0; i < d; ++i) {
            const T* const c = angles.data() + p * r + i % half;
            const T sign = (i < half) != a.rope_clockwise ? -1 : 1;
            cos.data()[p * d + i] = i < r ? c[0] : T{1};
            sin.data()[p * d + i] = i < r ? sign * c[half] : T{0};
        }
    }
    last = key;
    return kept = {Tensor<T>(cos), Tensor<T>(sin)};
}

}  // namespace

std::vector<double> rotary_divisors(const Architecture& a) {
    const RopeOptions& o = a.rope;
    const std::size_t half = a.rotary_size() / 2;
    std::vector<double> divisors(half, o.scaling == RopeScaling::linear ? o.factor : 1.0);
    if (o.scaling != RopeScaling::llama3) return divisors;
    for (std::size_t i = 0; i < half; ++i) {
        const double wavelength =
            2 * std::numbers::pi * std::pow(a.rope_theta, static_cast<double>(i) / static_cast<double>(half));
        const double turns = static_cast<double>(o.original) / wavelength;  // in the first training's context
        const double kept = std::clamp((turns - o.low) / (o.high - o.low), 0.0, 1.0);
        divisors[i] = 1 / ((1 - kept) / o.factor + kept);
    }
    return divisors;
}

std::vector<double> rotary_rates(const Architecture& a) {
    std::vector<double> rates = rotary_divisors(a);
    const auto r = static_cast<double>(a.rotary_size());
    for (std::size_t i = 0; i < rates.size(); ++i)
        rates[i] = std::pow(a.rope_theta, -2.0 * static_cast<double>(i) / r) / rates[i];
    return rates;
}

template <class T>
std::vector<T> rotary_table(const Architecture& a, std::size_t start, std::size_t rows) {
    const std::vector<double> rates = rotary_rates(a);
    const std::size_t half = rates.size();
    std::vector<T> table(rows * 2 * half);
    for (std::size_t p = 0; p < rows; ++p) {
        for (std::size_t i = 0; i < half; ++i) {
            const double angle = static_cast<double>(start + p) * rates[i];
            table[p * 2 * half + i] = static_cast<T>(std::cos(angle));
            table[p * 2 * half + half + i] = static_cast<T>(std::sin(angle));
        }
    }
    return table;
}

template <class T>
Tensor<T> rotate(const Tensor<T>& x, const Architecture& a, std::size_t start, const IdArray& positions) {
    const std::size_t d = a.head_size(), r = a.rotary_size();
    if (r == d && a.rope.scaling == RopeScaling::none)
        return rotary(x, {.base = a.rope_theta, .clockwise = a.rope_clockwise, .start = start, .positions = positions});
    Tables<T> angles = tables<T>(a, start, x.dim(-2));
    if (positions.defined()) {  // rows of the tables for each: (B, 1, L, d)
        const Shape shape{positions.dim(0), 1, positions.dim(1), d};
        angles = {reshape(embedding(positions, angles.cos), shape), reshape(embedding(positions, angles.sin), shape)};
    }
    std::vector<Tensor<T>> swapped = {slice(x, -1, r / 2, r), slice(x, -1, 0, r / 2)};
    if (r < d) swapped.push_back(slice(x, -1, r, d));
    return add(mul(x, angles.cos), mul(concatenate(swapped, -1), angles.sin));
}

template std::vector<float> rotary_table(const Architecture&, std::size_t, std::size_t);
template Tensor<float> rotate(const Tensor<float>&, const Architecture&, std::size_t, const IdArray&);
template Tensor<double> rotate(const Tensor<double>&, const Architecture&, std::size_t, const IdArray&);

}  // namespace inkling::models

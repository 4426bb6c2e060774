//   rotate   y1 = x1 cos - x2 sin     y2 = x2 cos + x1 sin     dx: dy rotated back
#include "engine/ops/plain/rotary.h"

#include "engine/array/rows.h"
#include "engine/base/portable_math.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/plain/plain.h"
#include "engine/ops/shape/shape.h"

namespace inkling {

std::vector<double> rotary_rates(std::size_t d, double base) {
    std::vector<double> rates(d / 2);
    for (std::size_t i = 0; i < rates.size(); ++i)
        rates[i] = portable::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d));
    return rates;
}

template <class T>
ConstArray<T> rotary_table(const std::vector<double>& rates, std::size_t start, std::size_t rows, bool clockwise) {
    const std::size_t half = rates.size();
    Array<T> table({rows, 2, half});
    T* const cos = table.data();
    each_row(rows, 32 * half, [&](std::size_t p) {  // an angle takes as long as 32 sums
        for (std::size_t i = 0; i < half; ++i) {
            const auto [sine, cosine] = portable::sin_cos(static_cast<double>(start + p) * rates[i]);
            cos[2 * p * half + i] = static_cast<T>(cosine);
            cos[(2 * p + 1) * half + i] = static_cast<T>(clockwise ? -sine : sine);
        }
    });
    return table;
}

namespace plain {

template <class T>
Tensor<T> rotate(const Tensor<T>& x, const ConstArray<std::type_identity_t<T>>& table, const IdArray& positions,
                 RotaryPairs pairs) {
    const std::size_t L = x.dim(-2), d = x.dim(-1), r = 2 * table.dim(2);
    Tensor<T> angles(table.reshaped({table.dim(0), r}));
    if (positions.defined()) {
        Shape shape(x.rank(), 1);  // (B, 1, ..., L, r)
        shape.front() = x.dim(0), shape[x.rank() - 2] = L, shape.back() = r;
        angles = reshape(embedding(positions, angles), shape);
    } else {
        angles = slice(angles, 0, 0, L);
    }
    const Tensor<T> cos = slice(angles, -1, 0, r / 2), sin = slice(angles, -1, r / 2, r), rest = slice(x, -1, r, d);
    if (pairs == RotaryPairs::halves) {
        const Tensor<T> x1 = slice(x, -1, 0, r / 2), x2 = slice(x, -1, r / 2, r);
        return concatenate<T>({x1 * cos - x2 * sin, x2 * cos + x1 * sin, rest}, -1);
    }
    const Tensor<T> x1 = slice(x, -1, 0, r, 2), x2 = slice(x, -1, 1, r, 2);
    Shape shape = x.shape();
    shape.back() = r;
    return concatenate<T>({reshape(stack<T>({x1 * cos - x2 * sin, x2 * cos + x1 * sin}, -1), shape), rest}, -1);
}

template Tensor<float> rotate(const Tensor<float>&, const ConstArray<float>&, const IdArray&, RotaryPairs);
template Tensor<double> rotate(const Tensor<double>&, const ConstArray<double>&, const IdArray&, RotaryPairs);

}  // namespace plain

template ConstArray<float> rotary_table(const std::vector<double>&, std::size_t, std::size_t, bool);
template ConstArray<double> rotary_table(const std::vector<double>&, std::size_t, std::size_t, bool);

}  // namespace inkling

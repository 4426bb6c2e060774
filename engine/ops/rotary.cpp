//   rotary   each pair is rotated by its angle     dx: dy rotated back
#include "engine/ops/rotary.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/backward.h"
#include "engine/kernels/rotate_row.h"
#include "engine/parallel.h"

namespace inkling {
namespace {

// All layers of a model need the same angles, forward and backward, so the last ones are cached.
template <class T>
const T* cached_angles(std::size_t start, std::size_t rows, std::size_t d, double base) {
    using Arguments = std::tuple<std::size_t, std::size_t, std::size_t, double>;
    static thread_local Arguments last;
    static thread_local std::vector<T> angles;
    const Arguments arguments{start, rows, d, base};
    if (arguments != last || angles.empty()) {
        angles = rotary_angles<T>(start, rows, d, base);
        last = arguments;
    }
    return angles.data();
}

template <class T>
Array<T> rotated(const ConstArray<T>& x_any, const RotaryOptions& options, bool back) {
    const ConstArray<T> x = x_any.contiguous();
    const std::size_t d = x.dim(-1), half = d / 2, L = x.dim(-2), rows = d ? x.size() / d : 0;
    const bool given = options.positions.defined();
    const std::int32_t* const positions = given ? options.positions.data() : nullptr;
    const std::size_t rows_of_one = given ? rows / std::max<std::size_t>(1, x.dim(0)) : rows;
    std::size_t last = L;  // one behind the largest position
    if (given && rows > 0)
        for (std::size_t i = 0; given && i < options.positions.size(); ++i)
            last = std::max(last, 1 + static_cast<std::size_t>(positions[i]));
    const T* const angles = cached_angles<T>(given ? 0 : options.start, last, d, options.base);
    const auto position = [=](std::size_t r) {
        return given ? static_cast<std::size_t>(positions[r / rows_of_one * L + r % L]) : r % L;
    };
    const T sign = options.clockwise != back ? -1 : 1;
    Array<T> y(x.shape());
    parallel_rows(rows, d, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            const T *const in = x.data() + r * d, *const c = angles + position(r) * d, *const s = c + half;
            T* const out = y.data() + r * d;
            if (options.pairs == RotaryPairs::halves)
                rotate_row<1>(in, c, s, sign, half, half, out);
            else
                rotate_row<2>(in, c, s, sign, half, 1, out);
        }
    });
    return y;
}

}  // namespace

template <class T>
Tensor<T> rotary(const Tensor<T>& x, const RotaryOptions& options) {
    check_defined("rotary", x);
    check(x.rank() >= 2 && x.dim(-1) % 2 == 0, "rotary: x (..., L, d) with an even d is required, got shape {}",
          x.shape());
    check(options.base > 0, "rotary: a base above 0 is required, got {}", options.base);
    RotaryOptions given = options;
    if (options.positions.defined()) {
        check(x.rank() >= 3 && options.positions.shape() == Shape{x.dim(0), x.dim(-2)},
              "rotary: positions (B, L) of x (B, ..., L, d) are required, got {} for {}", options.positions.shape(),
              x.shape());
        given.positions = options.positions.contiguous();
        check(std::all_of(given.positions.begin(), given.positions.end(), [](std::int32_t p) { return p >= 0; }),
              "rotary: positions of at least 0 are required");
    }
    return record(
        "rotary", rotated(x.value(), given, false), inputs(x),
        [options = given](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, rotated<T>(dy, options, true)); });
}

template <class T>
std::vector<T> rotary_angles(std::size_t start, std::size_t rows, std::size_t d, double base) {
    const std::size_t half = d / 2;
    std::vector<T> angles(rows * d);
    for (std::size_t i = 0; i < half; ++i) {
        const double rate = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d));
        for (std::size_t p = 0; p < rows; ++p) {
            const double angle = static_cast<double>(start + p) * rate;
            angles[p * d + i] = static_cast<T>(std::cos(angle));
            angles[p * d + half + i] = static_cast<T>(std::sin(angle));
        }
    }
    return angles;
}

template Tensor<float> rotary(const Tensor<float>&, const RotaryOptions&);
template Tensor<double> rotary(const Tensor<double>&, const RotaryOptions&);
template std::vector<float> rotary_angles(std::size_t, std::size_t, std::size_t, double);
template std::vector<double> rotary_angles(std::size_t, std::size_t, std::size_t, double);

}  // namespace inkling

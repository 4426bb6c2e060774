//   rotary   each pair is turned by its angle     dx: dy turned back
#include "engine/ops/rotary.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/parallel.h"

namespace inkling {
namespace {

template <class T>
Array<T> turn(const Array<T>& x_any, const RotaryOptions& options, bool back) {
    const Array<T> x = x_any.contiguous();
    const std::size_t d = x.dim(-1), half = d / 2, L = x.dim(-2), rows = d ? x.size() / d : 0;
    Array<T> cosine({L, half}), sine({L, half});
    const double sign = options.clockwise != back ? -1 : 1;
    for (std::size_t p = 0; p < L; ++p) {
        for (std::size_t i = 0; i < half; ++i) {
            const double angle = static_cast<double>(options.start + p) *
                                 std::pow(options.base, -2.0 * static_cast<double>(i) / static_cast<double>(d));
            cosine.data()[p * half + i] = static_cast<T>(std::cos(angle));
            sine.data()[p * half + i] = static_cast<T>(sign * std::sin(angle));
        }
    }
    Array<T> y(x.shape());
    const bool halves = options.pairs == RotaryPairs::halves;
    const std::size_t step = halves ? 1 : 2, other = halves ? half : 1;  // pair i is x[step i], x[step i + other]
    parallel_rows(rows, d, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            const T *const in = x.data() + r * d, *const c = cosine.data() + r % L * half,
                           *const s = sine.data() + r % L * half;
            T* const out = y.data() + r * d;
            for (std::size_t i = 0; i < half; ++i) {
                const T x1 = in[step * i], x2 = in[step * i + other];
                out[step * i] = x1 * c[i] - x2 * s[i];
                out[step * i + other] = x2 * c[i] + x1 * s[i];
            }
        }
    });
    return y;
}

}  // namespace

template <class T>
Tensor<T> rotary(const Tensor<T>& x, const RotaryOptions& options) {
    check(x.rank() >= 2 && x.dim(-1) % 2 == 0, "rotary: x (..., L, d) with an even d is required, got shape {}",
          x.shape());
    check(options.base > 0, "rotary: a base above 0 is required, got {}", options.base);
    return record("rotary", turn(x.value(), options, false), inputs(x),
                  [options](const Array<T>& dy, Gradients<T>& grads) { grads.add(0, turn(dy, options, true)); });
}

template Tensor<float> rotary(const Tensor<float>&, const RotaryOptions&);
template Tensor<double> rotary(const Tensor<double>&, const RotaryOptions&);

}  // namespace inkling

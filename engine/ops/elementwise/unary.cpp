//   neg      y = -x                  dx = -dy
//   exp      y = e^x                 dx = dy y
//   log      y = ln x                dx = dy / x
//   sqrt     y = x^(1/2)             dx = dy / (2 y)
//   pow      y = x^p                 dx = dy p x^(p-1)
//   affine   y = a x + b             dx = a dy
//   abs      y = |x|                 dx = dy sign(x)
//   sin      y = sin x               dx = dy cos x
//   cos      y = cos x               dx = -dy sin x
//   asin     y = asin x              dx = dy (1 - x^2)^(-1/2)
//   acos     y = acos x              dx = -dy (1 - x^2)^(-1/2)
//   atan     y = atan x              dx = dy / (1 + x^2)
//   log1p    y = ln(1 + x)           dx = dy / (1 + x)
//   expm1    y = e^x - 1             dx = dy e^x
//   erf      y = erf x               dx = dy 2 / sqrt(pi) e^(-x^2)
//   clamp    y = min(max(x, l), h)   dx = dy where l < x < h, else 0
//   floor, ceil, trunc, round, sign  dx = 0
// Where x is NaN, so is its gradient, except for the ops of the last line.
#include "engine/ops/elementwise/unary.h"

#include <cmath>
#include <numbers>

#include "engine/base/both_types.h"
#include "engine/kernels/simd.h"
#include "engine/ops/elementwise/unary_op.h"

namespace inkling {
namespace {

// <cmath> computes angles that portable::sin_cos does not take, and sin(-0), which is -0.
template <class T>
Vec<T> sine(const Vec<T>& x) {
    return lanewise<T>([](T v) {
        const bool is_portable = std::abs(v) < portable::kMostTurned && v != 0;
        return is_portable ? static_cast<T>(portable::sin(static_cast<double>(v))) : std::sin(v);
    })(x);
}
template <class T>
Vec<T> cosine(const Vec<T>& x) {
    return lanewise<T>([](T v) {
        return std::abs(v) < portable::kMostTurned ? static_cast<T>(portable::cos(static_cast<double>(v)))
                                                   : std::cos(v);
    })(x);
}
template <class T>
Vec<T> power(const Vec<T>& x, T p) {
    return lanewise<T>([p](T v) { return std::pow(v, p); })(x);
}
template <class T>
Tensor<T> sine(const Tensor<T>& x) {
    return sin(x);
}
template <class T>
Tensor<T> cosine(const Tensor<T>& x) {
    return cos(x);
}
template <class T>
Tensor<T> power(const Tensor<T>& x, T p) {
    return pow(x, static_cast<double>(p));
}

template <class T, class F>
Tensor<T> step(const char* op, const Tensor<T>& x, const F& f) {
    return unary_op(op, x, Saves::nothing, f, [](Vec<T>, Vec<T>) { return Vec<T>(T{0}); });
}

}  // namespace

template <class T>
Tensor<T> neg(const Tensor<T>& x) {
    return affine(x, -1.0, 0.0);
}

template <class T>
Tensor<T> exp(const Tensor<T>& x) {
    return unary_op(
        "exp", x, Saves::output, [](auto v) { return portable::exp(v); }, [](auto dy, auto y) { return dy * y; });
}

template <class T>
Tensor<T> log(const Tensor<T>& x) {
    return unary_op(
        "log", x, Saves::input, [](auto v) { return portable::log(v); }, [](auto dy, auto v) { return dy / v; });
}

template <class T>
Tensor<T> sqrt(const Tensor<T>& x) {
    return unary_op(
        "sqrt", x, Saves::output, [](auto v) { return xsimd::sqrt(v); }, [](auto dy, auto y) { return dy / (y + y); });
}

template <class T>
Tensor<T> pow(const Tensor<T>& x, double exponent) {
    const T p = static_cast<T>(exponent);
    const auto value = [p](auto v) { return power(v, p); };
    if (p == 0) return step("pow", x, value);
    return unary_op("pow", x, Saves::input, value, [p](auto dy, auto v) { return dy * p * power(v, p - 1); });
}

template <class T>
Tensor<T> affine(const Tensor<T>& x, double factor, double offset) {
    const T a = static_cast<T>(factor), b = static_cast<T>(offset);
    if (offset == 0)  // without a sum, which would make -0 of -0 and 0 a 0
        return unary_op(
            "affine", x, Saves::nothing, [a](auto v) { return a * v; }, [a](auto dy, auto) { return a * dy; });
    return unary_op(
        "affine", x, Saves::nothing, [a, b](auto v) { return a * v + b; }, [a](auto dy, auto) { return a * dy; });
}

template <class T>
Tensor<T> abs(const Tensor<T>& x) {
    return unary_op(
        "abs", x, Saves::input, [](auto v) { return xsimd::abs(v); },
        [](Vec<T> dy, Vec<T> v) {
            return select(v > 0, dy, select(v < 0, -dy, v * dy));  // 0 or NaN
        });
}

template <class T>
Tensor<T> sin(const Tensor<T>& x) {
    return unary_op(
        "sin", x, Saves::input, [](auto v) { return sine(v); }, [](auto dy, auto v) { return dy * cosine(v); });
}

template <class T>
Tensor<T> cos(const Tensor<T>& x) {
    return unary_op(
        "cos", x, Saves::input, [](auto v) { return cosine(v); }, [](auto dy, auto v) { return -dy * sine(v); });
}

template <class T>
Tensor<T> asin(const Tensor<T>& x) {
    return unary_op("asin", x, Saves::input, lanewise<T>([](T v) { return std::asin(v); }),
                    [](auto dy, auto v) { return dy / sqrt((1 - v) * (1 + v)); });
}

template <class T>
Tensor<T> acos(const Tensor<T>& x) {
    return unary_op("acos", x, Saves::input, lanewise<T>([](T v) { return std::acos(v); }),
                    [](auto dy, auto v) { return -dy / sqrt((1 - v) * (1 + v)); });
}

template <class T>
Tensor<T> atan(const Tensor<T>& x) {
    return unary_op("atan", x, Saves::input, lanewise<T>([](T v) { return std::atan(v); }),
                    both_ways(
                        [](Vec<T> dy, Vec<T> v) {
                            const Vec<T> one(T{1});
                            return select(max(v, -v) < kLargeSquare<T>, dy / multiply_add(v, v, one), dy / v / v);
                        },
                        [](Tensor<T> dy, Tensor<T> v) { return dy / (v * v + 1); }));
}

template <class T>
Tensor<T> log1p(const Tensor<T>& x) {
    return unary_op(
        "log1p", x, Saves::input, [](auto v) { return portable::log1p(v); },
        [](auto dy, auto v) { return dy / (1 + v); });
}

template <class T>
Tensor<T> expm1(const Tensor<T>& x) {
    return unary_op(
        "expm1", x, Saves::input, [](auto v) { return portable::expm1(v); },
        [](auto dy, auto v) { return dy * portable::exp(v); });
}

template <class T>
Tensor<T> erf(const Tensor<T>& x) {
    const T c = static_cast<T>(2 * std::numbers::inv_sqrtpi);
    const auto dx = [c](Vec<T> dy, Vec<T> v) {  // e^-(s + rest), s + rest = v^2: s alone would lose digits of a large v
        const Vec<T> far(T{30});                // e^-900 is 0
        const auto w = min(far, max(-far, v)), s = w * w, rest = multiply_add(w, w, -s);
        const auto e = dy * c * portable::exp(-s);
        return e - e * rest;
    };
    return unary_op(
        "erf", x, Saves::input, [](auto v) { return portable::erf(v); },
        both_ways(dx, [c](Tensor<T> dy, Tensor<T> v) { return dy * c * exp(-(v * v)); }));
}

template <class T>
Tensor<T> clamp(const Tensor<T>& x, double lowest, double highest) {
    check(!std::isnan(lowest) && !std::isnan(highest), "clamp: numbers are required as bounds, got {} and {}", lowest,
          highest);
    const Vec<T> l(static_cast<T>(lowest)), h(static_cast<T>(highest)), zero(T{0});
    return unary_op(
        "clamp", x, Saves::input,
        [=](auto v) {
            const Vec<T> y = xsimd::select(v < l, l, v);
            return xsimd::select(y > h, h, y);
        },
        [=](Vec<T> dy, Vec<T> v) { return select((v > l) & (v < h), dy, select(v == v, zero, v)); });
}

template <class T>
Tensor<T> floor(const Tensor<T>& x) {
    return step("floor", x, [](auto v) { return xsimd::floor(v); });
}

template <class T>
Tensor<T> ceil(const Tensor<T>& x) {
    return step("ceil", x, [](auto v) { return xsimd::ceil(v); });
}

template <class T>
Tensor<T> trunc(const Tensor<T>& x) {
    return step("trunc", x, [](auto v) { return xsimd::trunc(v); });
}

template <class T>
Tensor<T> round(const Tensor<T>& x) {
    return step("round", x, lanewise<T>([](T v) { return std::nearbyint(v); }));
}

template <class T>
Tensor<T> sign(const Tensor<T>& x) {
    return step("sign", x, lanewise<T>([](T v) { return v > 0 ? T{1} : v < 0 ? T{-1} : v == 0 ? T{0} : v; }));
}

INKLING_BOTH_TYPES(neg<T>, exp<T>, log<T>, sqrt<T>, affine<T>, abs<T>, sin<T>, cos<T>, asin<T>, acos<T>, atan<T>,
                   log1p<T>, expm1<T>, erf<T>, floor<T>, ceil<T>, trunc<T>, round<T>, sign<T>, clamp<T>);
template Tensor<float> pow(const Tensor<float>&, double);
template Tensor<double> pow(const Tensor<double>&, double);

}  // namespace inkling

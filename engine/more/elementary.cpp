//   exp2     y = 2^x                          dx = dy y ln 2
//   log2     y = ln x / ln 2                  dx = dy / (x ln 2)
//   log10    y = ln x / ln 10                 dx = dy / (x ln 10)
//   rsqrt    y = x^(-1/2)                     dx = -dy y / (2 x)
//   tan      y = sin x / cos x                dx = dy (1 + y^2)
//   sinh     y = (e^x - e^-x) / 2             dx = dy cosh x
//   cosh     y = (e^x + e^-x) / 2             dx = dy sinh x
//   asinh    y = ln(x + (x^2 + 1)^(1/2))      dx = dy (x^2 + 1)^(-1/2)
//   acosh    y = ln(x + (x^2 - 1)^(1/2))      dx = dy (x^2 - 1)^(-1/2)
//   atanh    y = ln((1 + x) / (1 - x)) / 2    dx = dy / (1 - x^2)
//   softsign y = x / (1 + |x|)                dx = dy / (1 + |x|)^2
//   mish     y = x tanh softplus x = x n / (n + 2), n = w (w + 2), w = e^x
//                                             dx = dy (n / (n + 2) + 4 x w (w + 1) / (n + 2)^2)
// For float, lanes are computed in double by portable functions and rounded once: nothing overflows on the way, no
// digits are lost, and the bits are the same on every CPU. For double, they are <cmath>'s.
#include "engine/more/elementary.h"

#include "engine/base/both_types.h"
#include "engine/ops/elementwise/unary_op.h"

namespace inkling {
namespace {

template <class T, class F, class G>
auto in_double(const F& of_float, const G& of_double) {
    return lanewise<T>([=](T v) {
        if constexpr (sizeof(T) == 4) {
            return static_cast<T>(of_float(static_cast<double>(v)));
        } else {
            return of_double(v);
        }
    });
}

// e^x of more is infinite in float, and finite in double. NaN stays NaN.
double limited(double x) { return std::min(std::max(x, -200.0), 200.0); }

template <class T>
Vec<T> exp2_of(const Vec<T>& x, double factor) {  // may be finite where 2^x is not
    return in_double<T>([=](double v) { return factor * portable::exp2(limited(v)); },
                        [=](double v) { return factor * std::exp2(v); })(x);
}
template <class T>
Tensor<T> exp2_of(const Tensor<T>& x, double factor) {
    return exp2(x) * factor;
}
template <class T>
Vec<T> sinh_of(const Vec<T>& x) {
    return in_double<T>(
        [](double v) {
            const double t = portable::expm1(limited(std::abs(v)));
            return std::copysign((t + t / (t + 1)) / 2, v);
        },
        [](double v) { return std::sinh(v); })(x);
}
template <class T>
Vec<T> cosh_of(const Vec<T>& x) {
    return in_double<T>(
        [](double v) {
            const double e = portable::exp(limited(std::abs(v)));
            return (e + 1 / e) / 2;
        },
        [](double v) { return std::cosh(v); })(x);
}
template <class T>
Tensor<T> sinh_of(const Tensor<T>& x) {
    return sinh(x);
}
template <class T>
Tensor<T> cosh_of(const Tensor<T>& x) {
    return cosh(x);
}

// min(x, most)
template <class T>
Vec<T> limited(const Vec<T>& x, std::type_identity_t<T> most) {
    return min(Vec<T>(most), x);
}
template <class T>
Tensor<T> limited(const Tensor<T>& x, double most) {
    return minimum(x, most);
}

}  // namespace

template <class T>
Tensor<T> exp2(const Tensor<T>& x) {
    return unary_op(
        "exp2", x, Saves::input, [](auto v) { return exp2_of(v, 1); },
        [](auto dy, auto v) { return dy * exp2_of(v, std::numbers::ln2); });
}

template <class T>
Tensor<T> log2(const Tensor<T>& x) {
    return unary_op("log2", x, Saves::input,
                    in_double<T>([](double v) { return portable::log2(v); }, [](double v) { return std::log2(v); }),
                    [c = static_cast<T>(std::numbers::log2e)](auto dy, auto v) { return dy * c / v; });
}

template <class T>
Tensor<T> log10(const Tensor<T>& x) {
    return unary_op("log10", x, Saves::input,
                    in_double<T>([](double v) { return portable::log(v) * std::numbers::log10e; },
                                 [](double v) { return std::log10(v); }),
                    [c = static_cast<T>(std::numbers::log10e)](auto dy, auto v) { return dy * c / v; });
}

template <class T>
Tensor<T> rsqrt(const Tensor<T>& x) {
    return unary_op(
        "rsqrt", x, Saves::input, [](auto v) { return 1 / sqrt(v); },
        [](auto dy, auto v) { return dy * (T{-0.5} / sqrt(v)) / v; });
}

template <class T>
Tensor<T> tan(const Tensor<T>& x) {
    return unary_op("tan", x, Saves::output,
                    in_double<T>(
                        [](double v) {
                            if (v == 0 || !(std::abs(v) < portable::kMostTurned)) return std::tan(v);
                            const auto [sine, cosine] = portable::sin_cos(v);
                            return sine / cosine;
                        },
                        [](double v) { return std::tan(v); }),
                    both_ways([](Vec<T> dy, Vec<T> y) { return dy * multiply_add(y, y, Vec<T>(T{1})); },
                              [](Tensor<T> dy, Tensor<T> y) { return dy * (y * y + 1); }));
}

template <class T>
Tensor<T> sinh(const Tensor<T>& x) {
    return unary_op(
        "sinh", x, Saves::input, [](auto v) { return sinh_of(v); }, [](auto dy, auto v) { return dy * cosh_of(v); });
}

template <class T>
Tensor<T> cosh(const Tensor<T>& x) {
    return unary_op(
        "cosh", x, Saves::input, [](auto v) { return cosh_of(v); }, [](auto dy, auto v) { return dy * sinh_of(v); });
}

template <class T>
Tensor<T> asinh(const Tensor<T>& x) {
    const Vec<T> one(T{1}), large(kLargeSquare<T>);
    return unary_op("asinh", x, Saves::input,
                    in_double<T>(
                        [](double v) {
                            const double a = std::abs(v);
                            return std::copysign(portable::log1p(a + (std::sqrt(a * a + 1) - 1)), v);
                        },
                        [](double v) { return std::asinh(v); }),
                    both_ways(
                        [=](Vec<T> dy, Vec<T> v) {
                            const auto a = max(v, -v);
                            return select(a < large, dy / sqrt(multiply_add(v, v, one)), dy / a);
                        },
                        [](Tensor<T> dy, Tensor<T> v) { return dy / sqrt(v * v + 1); }));
}

template <class T>
Tensor<T> acosh(const Tensor<T>& x) {
    return unary_op("acosh", x, Saves::input,
                    in_double<T>(
                        [](double v) {
                            const double t = v - 1;
                            return portable::log1p(t + std::sqrt(t) * std::sqrt(t + 2));
                        },
                        [](double v) { return std::acosh(v); }),
                    [](auto dy, auto v) {
                        const auto a = abs(v);  // as in PyTorch, the formula holds below -1, too, where y is NaN
                        return dy / (sqrt(a - 1) * sqrt(a + 1));
                    });
}

template <class T>
Tensor<T> atanh(const Tensor<T>& x) {
    return unary_op("atanh", x, Saves::input,
                    in_double<T>(
                        [](double v) {
                            const double a = std::abs(v);
                            return std::copysign(portable::log1p(2 * a / (1 - a)) / 2, v);
                        },
                        [](double v) { return std::atanh(v); }),
                    [](auto dy, auto v) { return dy / ((1 - v) * (1 + v)); });
}

template <class T>
Tensor<T> softsign(const Tensor<T>& x) {
    return unary_op(
        "softsign", x, Saves::input, [](auto v) { return v / (1 + xsimd::abs(v)); },
        [](auto dy, auto v) {
            const auto whole = 1 + abs(v);
            return dy / whole / whole;
        });
}

template <class T>
Tensor<T> mish(const Tensor<T>& x) {
    const auto value = [](double v) {
        if (!(v > -40)) return portable::silu(v);  // as many digits of a small e^x as there are
        const double w = portable::exp(std::min(v, 20.0)), n = w * (w + 2);
        return v * (n / (n + 2));
    };
    return unary_op("mish", x, Saves::input, in_double<T>(value, value), [](auto dy, auto v) {
        const auto near = limited(v, 20), w = portable::exp(near), n = w * (w + 2), d = n + 2;  // from 20 on, y is x
        return dy * (n / d + near * (4 * w * (w + 1) / (d * d)));
    });
}

INKLING_BOTH_TYPES(exp2<T>, log2<T>, log10<T>, rsqrt<T>, tan<T>, sinh<T>, cosh<T>, asinh<T>, acosh<T>, atanh<T>,
                   softsign<T>, mish<T>);

}  // namespace inkling

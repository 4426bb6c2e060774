// Elementary functions with the same bits on every CPU, compiler and C library, over the whole range of their type,
// subnormal numbers included. <cmath>'s and xsimd's differ in the last bits from version to version.
//   portable::exp(0.5f);  portable::exp(Vec<float>(0.5f));  // a number and each lane of a vector get the same bits
// The errors, in units of the last place: exp, log, log1p, expm1, tanh, sin, cos 2; sigmoid, erf 3; silu 4.
// Each consists of sums, products and fused multiply-adds, in the order written here. They call each other with their
// namespace, because argument-dependent lookup would find xsimd's functions for vectors.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

namespace inkling::portable {

// The operations that the functions need on numbers; engine/kernels/simd.h has those on vectors.
template <class V>
struct Numbers;
template <std::floating_point T>
struct Numbers<T> {
    using value_type = T;
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static Bits bits(T x) { return std::bit_cast<Bits>(x); }
    static T number(Bits bits) { return std::bit_cast<T>(bits); }
    static T fma(T a, T b, T c) { return std::fma(a, b, c); }
    static T abs(T x) { return std::abs(x); }
    static T select(bool condition, T a, T b) { return condition ? a : b; }
    static bool all(bool condition) { return condition; }
    static T at_least(T bound, T x) { return bound > x ? bound : x; }  // NaN where x is NaN
    static T at_most(T bound, T x) { return bound < x ? bound : x; }
    template <class F>
    static T each(const F& f, T x) {
        return f(x);
    }
};

// The bits of a floating-point type, and ln 2 as the sum of two numbers of that type.
template <class T>
struct Format {
    static constexpr bool single = sizeof(T) == 4;
    static constexpr int fraction = std::numeric_limits<T>::digits - 1;  // bits
    using Bits = std::conditional_t<single, std::uint32_t, std::uint64_t>;
    static constexpr Bits one = std::bit_cast<Bits>(T{1});
    // n + magic holds the integer n in its last bits.
    static constexpr T magic = T(1.5) * static_cast<T>(Bits{1} << fraction);
    static constexpr T ln2 = single ? T(0x1.62e430p-1) : T(0x1.62e42fefa39efp-1);
    static constexpr T ln2_rest = single ? T(-0x1.05c610p-29) : T(0x1.abc9e3b39803fp-56);
};

// The polynomial c[0] + c[1] x + ... + c[N - 1] x^(N-1).
template <class V, class T, std::size_t N>
V polynomial(const V& x, const T (&c)[N]) {
    V y(c[N - 1]);
    for (std::size_t i = N - 1; i-- > 0;) y = Numbers<V>::fma(y, x, V(c[i]));
    return y;
}

// 2^n for n + magic, if it is a normal number.
template <class V>
V power_of_two(const V& shifted) {
    using F = Format<typename Numbers<V>::value_type>;
    return Numbers<V>::number((Numbers<V>::bits(shifted) << F::fraction) + F::one);
}

// e^x = (1 + m) 2^n, with |m| < 0.42, for x from `least` to where e^x is infinite.
template <class V>
struct Exponential {
    using N = Numbers<V>;
    using T = typename N::value_type;
    using F = Format<T>;
    V n, shifted, m;

    Exponential(const V& x_any, T least) {
        constexpr T most = static_cast<T>(std::numeric_limits<T>::max_exponent * std::numbers::ln2 + 0.25);
        const V x = N::at_most(V(most), N::at_least(V(least), x_any));
        shifted = N::fma(x, V(static_cast<T>(std::numbers::log2e)), V(F::magic));
        n = shifted - V(F::magic);
        const V r = N::fma(n, V(-F::ln2_rest), N::fma(n, V(-F::ln2), x));
        V q;
        if constexpr (F::single) {
            q = polynomial(r, {T(1. / 2), T(1. / 6), T(1. / 24), T(1. / 120), T(1. / 720), T(1. / 5040)});
        } else {
            q = polynomial(r, {1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
                               1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800});
        }
        m = N::fma(q, r * r, r);
    }
    // y 2^n for normal y, and for any y if n is 0. A subnormal result is rounded once.
    V scaled(const V& y) const {
        if constexpr (requires { N::scaled(y, n); }) {  // the same in one instruction
            return N::scaled(y, n);
        } else {
            constexpr T far = static_cast<T>(std::numeric_limits<T>::max_exponent - 8);
            if (N::all(N::abs(n) < V(far))) [[likely]]  // the result is a normal number, too
                return N::number(N::bits(y) + (N::bits(shifted) << F::fraction));
            const V half = N::fma(n, V(T(0.5)), V(F::magic));
            return y * power_of_two<V>(half) * power_of_two<V>(shifted - (half - V(F::magic)));
        }
    }
};

template <class T>
constexpr T kLeastExponent =  // e^x is 0 below
    static_cast<T>((std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits - 2) * std::numbers::ln2);

template <class V>
V exp(const V& x) {
    using T = typename Numbers<V>::value_type;
    const Exponential<V> e(x, kLeastExponent<T>);
    return e.scaled(V(T{1}) + e.m);
}

// y with the sign of x, for y of functions that have it, so that f(-0) is -0.
template <class V>
V signed_as(const V& x, const V& y) {
    using N = Numbers<V>;
    using Bits = typename Format<typename N::value_type>::Bits;
    constexpr Bits sign = ~(~Bits{0} >> 1);
    return N::number(N::bits(y) | (N::bits(x) & sign));
}

template <class V>
V expm1(const V& x) {
    using T = typename Numbers<V>::value_type;
    constexpr T least = static_cast<T>(-(std::numeric_limits<T>::digits + 2) * std::numbers::ln2);  // -1 below
    const Exponential<V> e(x, least);
    const V half = power_of_two<V>(e.shifted - V(T{1}));  // 2^n itself may be infinite
    return portable::signed_as(x, V(T{2}) * Numbers<V>::fma(half, e.m, half - V(T(0.5))));
}

// x = (1 + f) 2^e with 1 + f from sqrt(1/2) to sqrt(2), and s = f / (2 + f):
//   ln x = e ln 2 + 2 atanh s,  2 atanh s = f - f^2/2 + s (f^2/2 + 2 s^2/3 + 2 s^4/5 + ...)
template <class V>
V log(const V& x) {
    using N = Numbers<V>;
    using T = typename N::value_type;
    using F = Format<T>;
    constexpr T least = std::numeric_limits<T>::min(), infinity = std::numeric_limits<T>::infinity();
    constexpr T up = static_cast<T>(typename F::Bits{1} << (F::fraction + 1));  // makes subnormal numbers normal
    const auto small = x < V(least);
    const auto bits = N::bits(N::select(small, x * V(up), x));
    constexpr auto root = std::bit_cast<typename F::Bits>(static_cast<T>(std::numbers::sqrt2 / 2));
    // Counts the exponent from the smallest, so that it is positive: the number that is shifted is unsigned.
    constexpr typename F::Bits above = F::one;
    const auto exponent = (bits - root + above) >> F::fraction;
    constexpr auto bias = static_cast<T>(above >> F::fraction);
    const V shifted = N::number(exponent + std::bit_cast<typename F::Bits>(F::magic));
    const V e = shifted - V(F::magic + bias) - N::select(small, V(T(F::fraction + 1)), V(T{0}));
    const V f = N::number(bits - (exponent << F::fraction) + above) - V(T{1});
    const V s = f / (V(T{2}) + f), s2 = s * s, half_square = V(T(0.5)) * f * f;
    V series;
    if constexpr (F::single) {
        series = polynomial(s2, {T(2. / 3), T(2. / 5), T(2. / 7), T(2. / 9), T(2. / 11)});
    } else {
        series = polynomial(s2, {2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21});
    }
    const V inner = N::fma(s, N::fma(s2, series, half_square), e * V(F::ln2_rest));
    const V y = N::fma(e, V(F::ln2), f - (half_square - inner));
    const V end = N::select(x == V(T{0}), V(-infinity), N::select(x < V(T{0}), V(infinity - infinity), x));
    return N::select((x > V(T{0})) & (x < V(infinity)), y, end);
}

template <class V>
V log1p(const V& x) {
    using N = Numbers<V>;
    using T = typename N::value_type;
    const V one(T{1}), u = one + x;
    const V lost = N::select(x < one, x - (u - one), one - (u - x));  // lost by rounding u
    const V y = portable::log(u);
    const V infinity(std::numeric_limits<T>::infinity());
    return portable::signed_as(x, N::select((u > V(T{0})) & (u < infinity), y + lost / u, y));
}

template <class V>
V tanh(const V& x) {
    using N = Numbers<V>;
    using T = typename N::value_type;
    constexpr T most = static_cast<T>((std::numeric_limits<T>::digits + 4) * std::numbers::ln2);  // 1 from most / 2 on
    const V size = N::abs(x), t = portable::expm1(N::at_most(V(most), size + size)), y = t / (t + V(T{2}));
    return portable::signed_as(x, y);
}

// Below 0 as e^x / (1 + e^x), because e^x is finite there.
template <class V>
V sigmoid(const V& x) {
    using N = Numbers<V>;
    using T = typename N::value_type;
    const Exponential<V> e(-N::abs(x), kLeastExponent<T>);
    const V one(T{1}), power = e.scaled(one + e.m);
    return N::select(x < V(T{0}), power, one) / (one + power);
}

// x sigmoid x. Below 0, x multiplies 1 + m before 2^n does, so that a subnormal e^x loses no digits.
template <class V>
V silu(const V& x) {
    using N = Numbers<V>;
    using T = typename N::value_type;
    constexpr T least = kLeastExponent<T> - 8;  // x e^x is 0 below
    const Exponential<V> e(-N::abs(x), least);
    const V one(T{1}), grown = one + e.m;
    const V below = (N::at_least(V(least), x) + (x - x)) * grown;  // NaN for minus infinity, which is 0 times it
    return N::select(x < V(T{0}), e.scaled(below), x) / (one + e.scaled(grown));
}

// float: x P(x^2) up to 1, and 1 - e^Q(|x|) beyond, by least squares. double is <cmath>'s.
template <class V>
V erf(const V& x) {
    using N = Numbers<V>;
    using T = typename N::value_type;
    if constexpr (sizeof(T) == 8) {
        return N::each([](T v) { return std::erf(v); }, x);
    } else {
        const V size = N::abs(x), one(T{1});
        const V inner = x * polynomial(x * x, {1.12837911f, -0.376126260f, 0.112836003f, -0.0268544443f, 0.00518953521f,
                                               -0.000802083930f, 0.0000788911348f});
        const V most = N::at_most(V(4.0f), size);
        const V tail = portable::exp(polynomial(most, {-0.000353690411f, -1.12704015f, -0.638225496f, -0.103037551f,
                                                       0.0218054093f, -0.00293963053f, 0.000185576442f}));
        const V outer = one - tail;
        return N::select(size < one, inner, N::select(x < V(T{0}), -outer, outer));
    }
}

// sin x and cos x, for |x| up to 2^30.
inline constexpr double kMostTurned = 0x1p30;
std::pair<double, double> sin_cos(double x);
inline double sin(double x) { return sin_cos(x).first; }
inline double cos(double x) { return sin_cos(x).second; }

// 2^x, exact for integers, log2 x, and x^y for x > 0 within 2 + |y ln x| units of the last place; for normal results.
double exp2(double x);
inline double log2(double x) { return portable::log(x) * std::numbers::log2e; }
inline double pow(double x, double y) { return portable::exp(y * portable::log(x)); }

}  // namespace inkling::portable

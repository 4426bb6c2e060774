#include "engine/base/half.h"

static float bf16_to_f32(std::uint16_t h) { return widen(BFloat16{h}); }
static std::uint16_t f32_to_bf16(float x) { return round_to_bfloat16(x).bits; }

// The value of a finite 16-bit float by definition, in double.
static double value_of(std::uint16_t h, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (h >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = h & ((1 << fraction_bits) - 1);
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                 : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

// Counts failures over all bit patterns; one CHECK at the end keeps the test fast.
template <class Widen, class Narrow>
static int failures_over_all_patterns(int exponent_bits, int fraction_bits, Widen widen, Narrow narrow) {
    int failures = 0;
    const int infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    for (int i = 0; i < 65536; ++i) {
        const auto h = static_cast<std::uint16_t>(i);
        const float x = widen(h);
        failures += narrow(x) != h;
        failures += std::signbit(x) != (i >= 32768);
        if ((i & 0x7fff) > infinity)
            failures += !std::isnan(x);
        else if ((i & 0x7fff) == infinity)
            failures += !std::isinf(x);
        else
            failures += static_cast<double>(x) != value_of(h, exponent_bits, fraction_bits);
    }
    return failures;
}

// Between each finite pattern and the next: just below the middle rounds down, just above it up, the middle to even.
template <class Narrow>
static int failures_between_patterns(int exponent_bits, int fraction_bits, Narrow narrow) {
    int failures = 0;
    const int infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    for (int i = 0; i < infinity; ++i) {
        const double low = value_of(static_cast<std::uint16_t>(i), exponent_bits, fraction_bits);
        const double step =
            std::ldexp(1.0, std::max(i >> fraction_bits, 1) - (1 << (exponent_bits - 1)) + 1 - fraction_bits);
        const auto middle = static_cast<float>(low + step / 2);  // exact: one bit more than a 16-bit float has
        const float big = std::numeric_limits<float>::max();
        for (const float sign : {1.0f, -1.0f}) {
            const int negative = sign < 0 ? 0x8000 : 0;
            failures += narrow(sign * std::nextafter(middle, 0.0f)) != (i | negative);
            failures += narrow(sign * middle) != ((i + (i & 1)) | negative);
            failures += narrow(sign * std::nextafter(middle, big)) != ((i + 1) | negative);
        }
    }
    return failures;
}

TEST_CASE("half: f16 and bf16 widen exactly and come back, all 65536 patterns, the largest, and NaN", "[models]") {
    CHECK(failures_over_all_patterns(5, 10, f16_to_f32, f32_to_f16) == 0);
    CHECK(failures_over_all_patterns(8, 7, bf16_to_f32, f32_to_bf16) == 0);
    CHECK(failures_between_patterns(5, 10, f32_to_f16) == 0);  // narrowing rounds to nearest even around every middle
    CHECK(failures_between_patterns(8, 7, f32_to_bf16) == 0);
    CHECK(f32_to_f16(1e30f) == 0x7c00);  // beyond what the test above rounds
    CHECK(f32_to_f16(-std::numeric_limits<float>::denorm_min()) == 0x8000);
    CHECK(f32_to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
    for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu}) {
        const float nan = std::bit_cast<float>(bits);  // NaN stays NaN, with its sign
        CHECK_ALL(std::isnan(f16_to_f32(f32_to_f16(nan))), std::isnan(bf16_to_f32(f32_to_bf16(nan))));
        CHECK_ALL((f32_to_f16(nan) >> 15) == (bits >> 31), (f32_to_bf16(nan) >> 15) == (bits >> 31));
    }
}

TEST_CASE("bfloat16: arrays of any layout are rounded as numbers are, and back", "[engine]") {
    const Array<float> x = random_array<float>({5, 37}, 1);
    for (const ConstArray<float>& view :
         std::vector<ConstArray<float>>{x, x.transposed(0, 1), x.sliced(1, 3, 36, 2), x.broadcasted({2, 5, 37})}) {
        const Array<BFloat16> h = round_to_bfloat16(view);
        CHECK(h.is_contiguous());
        const ConstArray<float> back = widen(h), dense = view.contiguous();
        REQUIRE(back.shape() == view.shape());
        for (std::size_t i = 0; i < dense.size(); ++i)
            CHECK(back.data()[i] == widen(round_to_bfloat16(dense.data()[i])));
    }
}

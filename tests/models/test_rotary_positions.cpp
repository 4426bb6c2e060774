// Rotary positions of an Architecture: scaled angles, heads that are rotated in part.
#include "models/rotary_positions.h"

#include "engine/ops.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;
using models::RopeScaling;

TEST_CASE("rotary positions: rates of every kind", "[models]") {
    Architecture a = llama_shape(11, 1, 2, 2, 16, 64);
    a.rope_theta = 10000;
    const auto rates = [&] { return models::rotary_rates(a); };
    CHECK(rates() == std::vector<double>{1, std::pow(1e4, -0.25), std::pow(1e4, -0.5), std::pow(1e4, -0.75)});
    const std::vector<double> plain = rates();
    a.rope = {.scaling = RopeScaling::linear, .factor = 4};
    for (std::size_t i = 0; i < 4; ++i) CHECK(rates()[i] == plain[i] / 4);
    // wavelengths 2 pi, 63, 628, 6283 in a context of 256: 41, 4.07, 0.41, 0.041 turns
    a.rope = {RopeScaling::llama3, 8, 1, 8, 256};
    CHECK(rates()[0] == plain[0]);
    const double kept = (256 * plain[1] / (2 * std::numbers::pi) - 1) / 7;
    CHECK((kept > 0.4 && kept < 0.5));
    CHECK(rates()[1] == Approx((1 - kept) * plain[1] / 8 + kept * plain[1]));
    CHECK(rates()[2] == Approx(plain[2] / 8));
    CHECK(rates()[3] == Approx(plain[3] / 8));
    a.rope = {}, a.rotary_part = 0.5;
    CHECK(rates() == std::vector<double>{1, 0.01});
    a.rotary_part = 0.125;  // of 8
    CHECK((a.rotary_size() == 2 && rates() == std::vector<double>{1}));
    CHECK_NOTHROW(a.validate());
}

TEST_CASE("rotary positions: products of ops are the op, for all of a head and a part of it", "[models]") {
    const Tensor<double> x(normal({2, 3, 5, 8}, 1));
    for (const bool clockwise : {false, true}) {
        Architecture a = llama_shape(11, 1, 2, 2, 16, 64);
        a.rope_clockwise = clockwise;
        const Tensor<double> whole = models::rotate(x, a, 3);
        CHECK(same_bits(whole.value(), rotary(x, {.clockwise = clockwise, .start = 3}).value()));
        a.rope = {.scaling = RopeScaling::linear, .factor = 1};  // angles of before, another way
        const ConstArray<double> again = models::rotate(x, a, 3).value().contiguous(),
                                 want = whole.value().contiguous();
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(again.data()[i] == Approx(want.data()[i]).margin(1e-12));
        a.rope = {}, a.rotary_part = 0.5;
        const Tensor<double> part = models::rotate(x, a, 3);
        CHECK(same_bits(part.value().sliced(-1, 4, 8), x.value().sliced(-1, 4, 8)));
        const Tensor<double> first = rotary(slice(x, -1, 0, 4), {.clockwise = clockwise, .start = 3});
        const ConstArray<double> left = part.value().sliced(-1, 0, 4).contiguous(), right = first.value().contiguous();
        for (std::size_t i = 0; i < right.size(); ++i) CHECK(left.data()[i] == Approx(right.data()[i]).margin(1e-12));
    }
}

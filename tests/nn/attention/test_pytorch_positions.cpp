// Positions against PyTorch, and what each kind is for.
#include "engine/ops/rotary.h"

#include "nn/positions.h"
#include "tests/nn/attention/pytorch.h"

using namespace inkling;
using namespace inkling::testing;

TEMPLATE_TEST_CASE("PyTorch agrees: rotary, both pairings and both signs, from position 0 and a later one", "[nn]",
                   float, double) {
    using T = TestType;
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
        for (const bool clockwise : {false, true}) {
            const std::string name = std::string("rotary_") +
                                     (pairs == RotaryPairs::halves ? "halves" : "interleaved") +
                                     (clockwise ? "_clockwise" : "_counter");
            compare<T>(name, {"x"}, [&](const Named<T>& in) {
                return nn::AttentionOutput<T>{rotary(in.at("x"), {10000, pairs, clockwise, 0}), {}};
            });
            compare<T>(name + "_later", {"x"}, [&](const Named<T>& in) {
                return nn::AttentionOutput<T>{rotary(in.at("x"), {500, pairs, clockwise, 7}), {}};
            });
        }
    }
}

TEMPLATE_TEST_CASE("PyTorch agrees: sinusoidal and learned positions", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    check_close(nn::sinusoidal_positions<T>(50, 10), Case("sinusoidal").array<double>("output"), kTolerance<T>);
    nn::LearnedPositions<T> learned(random, 7, 4);
    for (const std::size_t start : {0, 2}) {
        compare<T>(start ? "learned_later" : "learned", "learned", learned, {"x"}, [&](const Named<T>& in) {
            return nn::AttentionOutput<T>{learned.forward(in.at("x"), start), {}};
        });
    }
}

TEST_CASE("rotary: a product of query and key depends on how far apart they are, not on where they stand", "[nn]") {
    const Tensor<double> q(normal({1, 8}, 1)), k(normal({1, 8}, 2));
    const auto product = [&](std::size_t i, std::size_t j, RotaryOptions options) {
        RotaryOptions at_key = options;
        options.start = i, at_key.start = j;
        return sum(mul(rotary(q, options), rotary(k, at_key))).item();
    };
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::interleaved}) {
        for (const bool clockwise : {false, true}) {
            const RotaryOptions options{10000, pairs, clockwise, 0};
            CHECK(product(9, 4, options) == Approx(product(5, 0, options)).epsilon(1e-13));
            CHECK(product(105, 100, options) == Approx(product(5, 0, options)).epsilon(1e-12));
            CHECK(std::abs(product(9, 4, options) - product(9, 5, options)) > 1e-3);
        }
        // The sign turns the distance around.
        CHECK(product(9, 4, {10000, pairs, false, 0}) == Approx(product(4, 9, {10000, pairs, true, 0})).epsilon(1e-13));
    }
}

TEST_CASE("rotary: lengths stay, position 0 stays as it is, and pairs and sign matter", "[nn]") {
    const Tensor<double> x(normal({3, 6}, 4));
    const auto turned = [&](RotaryPairs pairs, bool clockwise) {
        return rotary(x, {10000, pairs, clockwise, 0}).value();
    };
    const ConstArray<double> y = turned(RotaryPairs::halves, false);
    CHECK(same_bits(y.sliced(0, 0, 1), x.value().sliced(0, 0, 1)));
    for (std::size_t p = 0; p < 3; ++p) {
        double before = 0, after = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            before += std::pow(x.value().data()[p * 6 + i], 2);
            after += std::pow(y.data()[p * 6 + i], 2);
        }
        CHECK(after == Approx(before).epsilon(1e-14));
    }
    CHECK_FALSE(same_bits(y, turned(RotaryPairs::interleaved, false)));
    CHECK_FALSE(same_bits(y, turned(RotaryPairs::halves, true)));
    // The two pairings are one another's, with the columns in another order: 0 1 2 3 4 5 to 0 2 4 1 3 5.
    const auto reordered = [](const ConstArray<double>& a) {
        return a.reshaped({3, 3, 2}).transposed(1, 2).reshaped({3, 6});
    };
    const ConstArray<double> other = rotary(Tensor<double>(reordered(x.value()))).value();
    check_close(other, reordered(turned(RotaryPairs::interleaved, false)), 1e-15);
}

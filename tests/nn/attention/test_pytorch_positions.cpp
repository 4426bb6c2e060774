// Positions against PyTorch, and the purpose of each kind.
#include "engine/ops/attention/rotary.h"

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

// Rotary positions of an Architecture: scaled angles, partly rotated heads.
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
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(rates()[i] == Approx(std::pow(1e4, -0.25 * static_cast<double>(i))).epsilon(1e-15));
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
    CHECK((rates().size() == 2 && rates()[1] == Approx(0.01).epsilon(1e-15)));
    a.rotary_part = 0.125;  // of 8
    CHECK((a.rotary_size() == 2 && rates() == std::vector<double>{1}));
    CHECK_NOTHROW(a.validate());
}

TEST_CASE("rotary positions: of all of a head, and of its first numbers", "[models]") {
    const Array<double> x = normal({2, 3, 5, 8}, 1), dy = normal({2, 3, 5, 8}, 2);
    IdArray positions({2, 5});
    for (std::size_t i = 0; i < 10; ++i) positions.data()[i] = static_cast<std::int32_t>(i * 7 % 5);
    for (const bool clockwise : {false, true}) {
        for (const IdArray& given : {IdArray(), positions}) {
            const RotaryOptions options{.clockwise = clockwise, .positions = given};
            Architecture a = llama_shape(11, 1, 2, 2, 16, 64);
            a.rope_clockwise = clockwise;
            const auto turn = [&](const auto& in) {
                return rotate(in[0], models::RotaryTables<double>(a, 0, 5).global, given);
            };
            const Computed<double> whole = run<double>(turn, {x}, dy),
                                   op = run<double>([&](const auto&in) { return rotary(in[0], options); }, {x}, dy);
            CHECK(same_bits(whole.value, op.value));
            CHECK(same_bits(whole.grads[0], op.grads[0]));
            a.rope = {.scaling = RopeScaling::linear, .factor = 1};  // angles of before, another way
            CHECK(same_bits(run<double>(turn, {x}, dy).value, op.value));
            a.rope = {}, a.rotary_part = 0.5;
            const Computed<double> part = run<double>(turn, {x}, dy);
            const auto rest = [](const ConstArray<double>& of) { return of.sliced(-1, 4, 8).clone(); };
            const auto first = [](const ConstArray<double>& of) { return of.sliced(-1, 0, 4).clone(); };
            CHECK(same_bits(rest(part.value), rest(x)));
            CHECK(same_bits(rest(part.grads[0]), rest(dy)));
            const Computed<double> alone =
                run<double>([&](const auto& in) { return rotary(in[0], options); }, {first(x)}, first(dy));
            CHECK(same_bits(first(part.value), alone.value));
            CHECK(same_bits(first(part.grads[0]), alone.grads[0]));
        }
    }
}

TEST_CASE("rotary positions: rows may lie anywhere", "[models]") {
    const ConstArray<float> table = rotary_table<float>({1, 0.3, 0.1}, 0, 6);
    const auto turn = [&](const auto& in) { return rotate(in[0], table); };
    const Array<float> dense = random_array<float>({2, 6, 3, 8}, 1), dy = random_array<float>({2, 3, 6, 8}, 2);
    const auto heads = [&](const auto& in) { return rotate(transpose(in[0], 1, 2), table); };
    const auto columns = [&](const auto& in) { return rotate(transpose(in[0], 2, 3), table); };
    const Computed<float> want = run<float>(turn, {dense.transposed(1, 2).clone()}, dy);
    const Computed<float> split = run<float>(heads, {dense}, dy.clone());
    CHECK(same_bits(split.value, want.value));
    CHECK(same_bits(split.grads[0].transposed(1, 2).clone(), want.grads[0]));
    const Computed<float> turned = run<float>(columns, {dense.transposed(1, 2).transposed(2, 3).clone()}, dy);
    CHECK(same_bits(turned.value, want.value));
    CHECK(same_bits(turned.grads[0].transposed(2, 3).clone(), want.grads[0]));
    const Array<float> far = random_array<float>({2, 8, 6, 3}, 3).permuted({0, 3, 2, 1});  // dy with columns apart
    CHECK(same_bits(run<float>(turn, {dense.transposed(1, 2).clone()}, far).grads[0],
                    run<float>(turn, {dense.transposed(1, 2).clone()}, far.clone()).grads[0]));
}

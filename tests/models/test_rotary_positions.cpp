// Rotary positions of an Architecture: scaled angles, partly rotated heads.
#include "models/rotary_positions.h"

#include "tests/models/architectures.h"

TEST_CASE("rotary positions: rates of every kind, and rows may lie anywhere", "[models]") {
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
    CHECK_ALL(kept > 0.4, kept < 0.5, rates()[1] == Approx((1 - kept) * plain[1] / 8 + kept * plain[1]));
    CHECK_ALL(rates()[2] == Approx(plain[2] / 8), rates()[3] == Approx(plain[3] / 8));
    a.rope = {}, a.rotary_part = 0.5;
    CHECK_ALL(rates().size() == 2, rates()[1] == Approx(0.01).epsilon(1e-15));
    a.rotary_part = 0.125;  // of 8
    CHECK_ALL(a.rotary_size() == 2, rates() == std::vector<double>{1});
    CHECK_NOTHROW(a.validate());
    const ConstArray<float> table = rotary_table<float>({1, 0.3, 0.1}, 0, 6);
    const auto turn = [&](const auto& in) { return rotate(in[0], table); };
    const Array<float> dense = random_array<float>({2, 6, 3, 8}, 1), dy = random_array<float>({2, 3, 6, 8}, 2);
    const auto heads = [&](const auto& in) { return rotate(transpose(in[0], 1, 2), table); };
    const auto columns = [&](const auto& in) { return rotate(transpose(in[0], 2, 3), table); };
    const Computed<float> want = run<float>(turn, {dense.transposed(1, 2).clone()}, dy);
    const Computed<float> split = run<float>(heads, {dense}, dy.clone());
    CHECK_ALL(same_bits(split.value, want.value), same_bits(split.grads[0].transposed(1, 2).clone(), want.grads[0]));
    const Computed<float> turned = run<float>(columns, {dense.transposed(1, 2).transposed(2, 3).clone()}, dy);
    CHECK_ALL(same_bits(turned.value, want.value), same_bits(turned.grads[0].transposed(2, 3).clone(), want.grads[0]));
    const Array<float> far = random_array<float>({2, 8, 6, 3}, 3).permuted({0, 3, 2, 1});  // dy with columns apart
    CHECK(same_bits(run<float>(turn, {dense.transposed(1, 2).clone()}, far).grads[0],
                    run<float>(turn, {dense.transposed(1, 2).clone()}, far.clone()).grads[0]));
}

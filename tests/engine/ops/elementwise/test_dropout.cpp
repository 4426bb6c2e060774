// Dropout: the elements that stay, their scale, and that backward uses the mask of forward.
#include "engine/ops/elementwise/dropout.h"

TEMPLATE_TEST_CASE("dropout: the key's words decide, in row-major order", "[engine]", float, double) {
    const RandomKey key{7, 3};
    for (const double p : {0.1, 0.5, 0.9}) {
        const auto r = run<T>([&](const auto& in) { return dropout(in[0], p, key); }, {Array<T>({3, 7}, T{2})},
                              Array<T>({3, 7}, T{3}));
        for (std::size_t i = 0; i < 21; ++i) {
            const bool kept = random_words(key, i / 4)[i % 4] >= p * 0x1p32;
            CHECK(r.value.data()[i] == Approx(kept ? 2 / (1 - p) : 0.0));
            CHECK(r.grads[0].data()[i] == Approx(kept ? 3 / (1 - p) : 0.0));
        }
    }
}

TEST_CASE("dropout: extremes of p, and a mask that does not depend on strides", "[engine]") {
    const Tensor<float> x(Array<float>({1000}, 1.0f));
    CHECK(dropout(x, 0.0, {1, 2}).value().same_buffer(x.value()));
    CHECK(std::isfinite(dropout(x, 0.999999, {1, 2}).value().data()[0]));
    for (const double p : {-0.1, 1.0, 1.5, std::nan("")})
        CHECK_THROWS_WITH(dropout(x, p, {}), contains("dropout: expected a probability of at least 0 and below 1"));
    const Array<float> large = random_array<float>({130, 257}, 1);
    const auto r = run<float>([&](const auto& in) { return dropout(transpose(in[0], 0, 1), 0.3, {5, 6}); }, {large});
    const Tensor<float> copy(large.transposed(0, 1).clone());
    CHECK(same_bits(r.value, dropout(copy, 0.3, {5, 6}).value()));
    CHECK(dropout(Tensor<float>(Array<float>({0, 3})), 0.5, {}).shape() == Shape{0, 3});
}

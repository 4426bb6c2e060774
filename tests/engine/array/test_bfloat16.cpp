// Arrays of bfloat16 in any layout. test_half.cpp rounds numbers, test_gemm.cpp has products.
#include "engine/array/bfloat16.h"

#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;

TEST_CASE("bfloat16: arrays of any layout are rounded as numbers are, and back", "[engine]") {
    const Array<float> x = random_array<float>({5, 37}, 1);
    for (const ConstArray<float>& view :
         std::vector<ConstArray<float>>{x, x.transposed(0, 1), x.sliced(1, 3, 36, 2), x.broadcasted({2, 5, 37})}) {
        const Array<BFloat16> h = round_to_bfloat16(view);
        CHECK(h.is_contiguous());
        const ConstArray<float> back = widen(h), dense = view.contiguous();
        REQUIRE(back.shape() == view.shape());
        for (std::size_t i = 0; i < dense.size(); ++i) {
            CHECK(back.data()[i] == widen(round_to_bfloat16(dense.data()[i])));
        }
    }
}

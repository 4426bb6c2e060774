// The rows of `inkling gradcheck` for the attention family: all exist and pass.
#include <algorithm>

#include "nn/gradcheck.h"
#include "tests/engine/helpers.h"

using namespace inkling;

TEST_CASE("gradcheck: every row of the attention family is right to 1e-8", "[nn]") {
    const auto rows = nn::gradcheck_attention();
    for (const auto& row : rows) {
        INFO(row.name);
        CHECK(row.bound <= 1e-6);
        CHECK(row.worst_error() < 1e-8);
    }
    for (const char* name :
         {"simple_self_attention", "SelfAttention", "CausalAttention (fill_minus_infinity)",
          "CausalAttention (renormalize)", "MultiHeadAttentionWrapper", "MultiHeadAttention (self)",
          "MultiHeadAttention (self, packed)", "MultiHeadAttention (cross, masks)",
          "scaled_dot_product_attention (composed)", "scaled_dot_product_attention (fused)", "DotScore",
          "ScaledDotScore", "BilinearScore", "ConcatScore", "AdditiveScore", "AdditiveAttention", "masked_softmax"}) {
        INFO(name);
        CHECK(std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; }));
    }
}

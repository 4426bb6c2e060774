// The transformer: independent texts of a batch, errors, and gradients.
#include "models/transformer.h"

#include "engine/ops.h"
#include "models/gradcheck.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;
using models::Transformer;

namespace {

const Architecture kSmallGpt2 = gpt2_shape(11, 2, 2, 16, 8);

}  // namespace

TEST_CASE("transformer: a text's logits are the same alone, in a batch and in a longer text", "[models]") {
    const Transformer<float> model(gpt2_shape(65, 4, 4, 128, 64, 0.0, false));
    const IdArray ids = random_ids({12, 64}, 65, 1);
    const ConstArray<float> all = model.forward(ids).value();
    for (const std::size_t row : {0, 5, 11}) {
        check_close(model.forward(ids.sliced(0, row, row + 1).clone()).value(), all.sliced(0, row, row + 1), 1e-5);
    }
    check_close(model.forward(ids.sliced(1, 0, 17).clone()).value(), all.sliced(1, 0, 17), 1e-5);
    const Transformer<float> small(kSmallGpt2);  // ids and shapes that do not fit are refused
    CHECK_THROWS_WITH(small.forward(IdArray({1, 9}, 0)), contains("context of 8", "(1, 9)"));
    CHECK_THROWS_WITH(small.forward(IdArray({8}, 0)), contains("(8,)"));
    CHECK_THROWS_WITH(small.forward(IdArray({1, 0})), contains("(1, 0)"));
    CHECK_THROWS_WITH(small.forward(IdArray({1, 2}, 11)), contains("11"));
    CHECK_THROWS_WITH(small.loss(IdArray({1, 2}, 0), IdArray({1, 3}, 0)), contains("(1, 3)"));
    CHECK_THROWS_WITH(Transformer<float>(gpt2_shape(11, 2, 3, 16, 8)), contains("--n-head"));
    CHECK_THROWS_WITH(Transformer<float>(nanochat_shape(11, 2, 4, 3, 16, 8)), contains("--n-kv-head, got 4 and 3"));
    Architecture odd = llama_shape(11, 2, 4, 2, 16, 8);
    odd.head_dim = 5;
    CHECK_THROWS_WITH(Transformer<float>(odd), contains("even width, got 5"));
}

TEST_CASE("gradcheck: whole models are right to 1e-6", "[models][unsanitized]") {
    const auto rows = models::gradcheck_models();
    REQUIRE(rows.size() >= 3);
    for (const auto& row : rows) {
        INFO(row.name);
        CHECK(row.bound <= 1e-6);
        CHECK(row.worst_error() < row.bound);
    }
}

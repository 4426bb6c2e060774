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

TEST_CASE("transformer: an inkling is a nanochat whose tokens see a share of the one before", "[models]") {
    const Architecture config = shape_of("inkling", 11, 2, 2, 16, 8, 0.0, false);
    Transformer<double> model(config), plain(nanochat_shape(11, 2, 2, 2, 16, 8));
    plain.config.softcap = 0;
    fill_parameters(model, 0.3, {5, 0});
    for (const models::ParameterSpec& p : models::parameters(plain.config)) plain.at(p) = model.at(p);
    const IdArray ids = random_ids({2, 8}, 11, 1);
    const auto set = [&](double table, double attention, double mlp) {
        model.outer[models::ParameterName::token_shift].weight.tensor().value_in_place().fill(table);
        for (auto& l : model.layers) {
            l[models::ParameterName::attention_shift].weight.tensor().value_in_place().fill(attention);
            l[models::ParameterName::mlp_shift].weight.tensor().value_in_place().fill(mlp);
        }
        return model.forward(ids).value();
    };
    const ConstArray<double> as_nanochat = plain.forward(ids).value().contiguous();
    check_close(set(0, 0, 0), as_nanochat, 1e-12);
    for (const auto& shares : {std::array{0.5, 0.0, 0.0}, {0.0, 0.5, 0.0}, {0.0, 0.0, 0.5}}) {
        const ConstArray<double> y = set(shares[0], shares[1], shares[2]).contiguous();
        check_close(y.sliced(1, 0, 1), as_nanochat.sliced(1, 0, 1), 1e-12);  // nothing is before the first token
        double least = 1;
        for (std::size_t t = 1; t < 8; ++t)
            least = std::min(least, std::abs(y.data()[t * 11] - as_nanochat.data()[t * 11]));
        CHECK(least > 1e-6);
    }
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

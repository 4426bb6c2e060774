// The transformer: errors, token shifts, and gradients.
#include "models/transformer.h"

#include "models/gradcheck.h"
#include "tests/models/architectures.h"

TEST_CASE("transformer: ids that do not fit are refused, an inkling is a nanochat that shifts", "[models]") {
    const Transformer<float> small(gpt2_shape(11, 2, 2, 16, 8));
    CHECK_THROWS_WITH(small.forward(IdArray({1, 9}, 0)), contains("context of 8", "(1, 9)"));
    CHECK_THROWS_WITH(small.forward(IdArray({8}, 0)), contains("(8,)"));
    CHECK_THROWS_WITH(small.forward(IdArray({1, 0})), contains("(1, 0)"));
    CHECK_THROWS_WITH(small.forward(IdArray({1, 2}, 11)), contains("11"));
    CHECK_THROWS_WITH(small.loss(IdArray({1, 2}, 0), IdArray({1, 3}, 0)), contains("(1, 3)"));
    CHECK_THROWS_WITH(Transformer<float>(gpt2_shape(11, 2, 3, 16, 8)), contains("--n-head"));
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
    for (const auto& row : rows) WITH_INFO(row.name, CHECK_ALL(row.bound <= 1e-6, row.worst_error() < row.bound));
}

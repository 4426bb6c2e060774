// The transformer as GPT-2: its parameters, its head, its positions, and what it refuses.
#include "models/transformer.h"

#include "engine/ops.h"
#include "models/gradcheck.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;
using models::Part;
using models::Transformer;

namespace {

const Architecture kSmallGpt2 = gpt2_shape(11, 2, 2, 16, 8);

}  // namespace

TEST_CASE("gpt: parameters have GPT-2's names, and are as many as the config says", "[models]") {
    Transformer<float> model(gpt2_shape(11, 1, 2, 16, 8));
    std::vector<std::string> names;
    for (const auto& [name, p] : model.parameters()) names.push_back(name);
    CHECK(names == std::vector<std::string>{"transformer.wte.weight", "transformer.wpe.weight",
                                            "transformer.h.0.ln_1.weight", "transformer.h.0.ln_1.bias",
                                            "transformer.h.0.attn.c_attn.weight", "transformer.h.0.attn.c_attn.bias",
                                            "transformer.h.0.attn.c_proj.weight", "transformer.h.0.attn.c_proj.bias",
                                            "transformer.h.0.ln_2.weight", "transformer.h.0.ln_2.bias",
                                            "transformer.h.0.mlp.c_fc.weight", "transformer.h.0.mlp.c_fc.bias",
                                            "transformer.h.0.mlp.c_proj.weight", "transformer.h.0.mlp.c_proj.bias",
                                            "transformer.ln_f.weight", "transformer.ln_f.bias"});
    for (const bool bias : {true, false}) {
        for (const std::size_t layers : {1, 3}) {
            const Architecture config = gpt2_shape(13, layers, 3, 12, 7, 0.0, bias);
            CHECK(Transformer<float>(config).parameter_count() == models::parameter_count(config));
        }
    }
    CHECK(models::parameter_count(gpt2_shape(50257, 12, 12, 768, 1024, 0.1)) == 124'439'808);  // GPT-2
    CHECK(models::parameter_count(gpt2_shape(65, 4, 4, 128, 64, 0.0, false)) == 804'096);
}

TEST_CASE("gpt: the head is the token table", "[models]") {
    Transformer<double> model(kSmallGpt2);
    const Tensor<double> hidden(normal({1, 2, 16}, 3));
    Tensor<double>& table = model.parts[Part::token_table].weight;
    check_close(model.logits(hidden).value(), linear(hidden, table).value(), 0);
    table.value_in_place().data()[5 * 16] += 1;  // row 5, column 0
    const ConstArray<double> z = model.logits(hidden).value();
    const ConstArray<double> other = linear(hidden, table).value();
    check_close(z, other, 0);
    // a token that is not in the text gets a gradient through the head
    model.zero_grad();
    backward(model.loss(IdArray({1, 3}, 1), IdArray({1, 3}, 2)));
    const Array<double> g = table.grad();
    for (std::size_t v = 0; v < 11; ++v) {
        double size = 0;
        for (std::size_t c = 0; c < 16; ++c) size += std::abs(g.data()[v * 16 + c]);
        CHECK(size > 0);
    }
}

TEST_CASE("gpt: a text's logits are the same alone, in a batch, and as the beginning of a longer text", "[models]") {
    const Transformer<float> model(gpt2_shape(65, 4, 4, 128, 64, 0.0, false));
    const IdArray ids = random_ids({12, 64}, 65, 1);
    const ConstArray<float> all = model.forward(ids).value();
    for (const std::size_t row : {0, 5, 11}) {
        check_close(model.forward(ids.sliced(0, row, row + 1).clone()).value(), all.sliced(0, row, row + 1), 1e-5);
    }
    check_close(model.forward(ids.sliced(1, 0, 17).clone()).value(), all.sliced(1, 0, 17), 1e-5);
}

TEST_CASE("gpt: positions matter", "[models]") {
    const Transformer<float> model(kSmallGpt2);
    const ConstArray<float> z = model.forward(IdArray({1, 8}, 3)).value();
    CHECK_FALSE(same_bits(z.sliced(1, 0, 1), z.sliced(1, 1, 2)));
}

TEST_CASE("gpt: ids that do not fit are refused", "[models]") {
    const Transformer<float> model(kSmallGpt2);
    CHECK_THROWS_WITH(model.forward(IdArray({1, 9}, 0)),
                      ContainsSubstring("context of 8") && ContainsSubstring("(1, 9)"));
    CHECK_THROWS_WITH(model.forward(IdArray({8}, 0)), ContainsSubstring("(8,)"));
    CHECK_THROWS_WITH(model.forward(IdArray({1, 0})), ContainsSubstring("(1, 0)"));
    CHECK_THROWS_WITH(model.forward(IdArray({1, 2}, 11)), ContainsSubstring("11"));
    CHECK_THROWS_WITH(model.loss(IdArray({1, 2}, 0), IdArray({1, 3}, 0)), ContainsSubstring("(1, 3)"));
    CHECK_THROWS_WITH(Transformer<float>(gpt2_shape(11, 2, 3, 16, 8)), ContainsSubstring("--n-head"));
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

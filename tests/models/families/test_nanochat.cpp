// NanoChat: its parameters, its capped loss, what it refuses, and transformers' numbers.
#include "models/transformer.h"

#include "engine/base/precision.h"
#include "engine/ops.h"
#include "models/files/folder.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"
#include "tests/models/transformers.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;
using models::Transformer;

namespace {

const Architecture kSmall = nanochat_shape(11, 2, 4, 2, 16, 8);

}  // namespace

TEST_CASE("nanochat: parameters have transformers' names, and are as many as the config says", "[models]") {
    Transformer<float> model(nanochat_shape(11, 1, 4, 2, 16, 8));
    std::vector<std::string> names;
    for (const auto& [name, p] : model.parameters()) names.push_back(name);
    const std::string layer = "model.layers.0.";
    CHECK(names == std::vector<std::string>{"model.embed_tokens.weight", layer + "self_attn.q_proj.weight",
                                            layer + "self_attn.k_proj.weight", layer + "self_attn.v_proj.weight",
                                            layer + "self_attn.o_proj.weight", layer + "mlp.fc1.weight",
                                            layer + "mlp.fc2.weight", "lm_head.weight"});
    for (const std::size_t kv_heads : {1, 2, 4}) {
        for (const bool bias : {false, true}) {
            Architecture config = nanochat_shape(13, 3, 4, kv_heads, 24, 7, 0.0, bias);
            config.n_inner = 50;
            CHECK(Transformer<float>(config).parameter_count() == models::parameter_count(config));
        }
    }
    const Architecture d32 = nanochat_shape(65536, 32, 16, 16, 2048, 2048);  // karpathy/nanochat-d32
    CHECK(models::parameter_count(d32) == 1'879'048'192);
}

TEST_CASE("nanochat: the loss is the mean of -ln softmax of the capped logits", "[models]") {
    for (const double cap : {0.0, 0.05}) {
        Architecture config = kSmall;
        config.softcap = cap;
        const Transformer<double> model(config);
        const IdArray ids = random_ids({3, 8}, 11, 1), targets = random_ids({3, 8}, 11, 2);
        const Tensor<double> z = model.forward(ids);
        if (cap > 0)
            for (std::size_t i = 0; i < z.size(); ++i) REQUIRE(std::abs(z.value().data()[i]) < cap);
        CHECK(model.loss(ids, targets).item() == Approx(cross_entropy(z, targets).item()).epsilon(1e-13));
    }
}

TEST_CASE("nanochat: ids and shapes that do not fit are refused", "[models]") {
    const Transformer<float> model(kSmall);
    CHECK_THROWS_WITH(model.forward(IdArray({1, 9}, 0)),
                      ContainsSubstring("nanochat: ids") && ContainsSubstring("context of 8"));
    CHECK_THROWS_WITH(model.forward(IdArray({1, 2}, 11)), ContainsSubstring("11"));
    CHECK_THROWS_WITH(Transformer<float>(nanochat_shape(11, 2, 4, 3, 16, 8)),
                      ContainsSubstring("--n-kv-head, got 4 and 3"));
    CHECK_THROWS_WITH(Transformer<float>(nanochat_shape(11, 2, 4, 2, 12, 8)), ContainsSubstring("even width"));
    Architecture gpt2 = gpt2_shape(11, 2, 4, 16, 8);
    gpt2.n_kv_head = 2;
    CHECK_THROWS_WITH(Transformer<float>(gpt2), ContainsSubstring("--n-kv-head is not for --arch gpt2"));
    gpt2.n_kv_head = 0;
    CHECK(Transformer<float>(gpt2).parameters()[0].first == "transformer.wte.weight");
}

TEST_CASE("nanochat: transformers' logits, loss, gradients and greedy text come out of its own shards", "[models]") {
    const auto numbers = reference("nanochat_tiny/expected.json");
    auto [model, tokenizer] = models::load_model(kNanoChatTiny);
    CHECK((model->config.kv_heads() == 2 && model->config.inner() == 40 && model->config.softcap == 15));
    CHECK(model->parameter_count() == 8'304);
    check_logits(*model, numbers, "logits", 2e-5);  // of up to 12
    check_loss_and_text(*model, *tokenizer, numbers);
    model->config.softcap = 0;
    check_logits(*model, numbers, "uncapped", 2e-5);
    model->config.softcap = 15;
    const WithPrecision scope(Precision::bf16);
    check_logits(*model, numbers, "logits", 0.5);
}

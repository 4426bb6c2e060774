// Architecture: valid sizes.
#include "models/architecture.h"

#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/models/architectures.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;

TEST_CASE("config: validate names the flag to change", "[models]") {
    const auto with = [](auto change) {
        Architecture config = gpt2_shape(65, 4, 4, 128, 64);
        change(config);
        return config;
    };
    CHECK_NOTHROW(Architecture{}.validate());
    CHECK_NOTHROW(with([](auto&) {}).validate());
    CHECK_THROWS_WITH(with([](auto& c) { c.n_layer = 0; }).validate(), contains("--n-layer must be at least 1, got 0"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_head = 0; }).validate(), contains("--n-head"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_embd = static_cast<std::size_t>(-1); }).validate(), contains("--n-embd"));
    CHECK_THROWS_WITH(with([](auto& c) { c.block_size = 0; }).validate(), contains("--block-size"));
    CHECK_THROWS_WITH(with([](auto& c) { c.vocab_size = 0; }).validate(), contains("vocabulary"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_embd = 130; }).validate(), contains("130 and 4"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_kv_head = 2; }).validate(),
                      contains("--n-kv-head is not for --arch gpt2"));
    CHECK_THROWS_WITH(
        models::family("mamba"),
        contains("--arch must be one of gemma3, gpt-neox, gpt2, inkling, llama, nanochat, qwen2, qwen3, got 'mamba'"));
    for (const double p : {-0.1, 1.0, std::nan("")})
        CHECK_THROWS_WITH(with([p](auto& c) { c.dropout = p; }).validate(), contains("--dropout"));
}

TEST_CASE("config: an Architecture is of the default family, and parts without a name are refused", "[models]") {
    const Architecture plain;
    CHECK(plain == models::family(plain.family).defaults(true));
    models::Transformer<float> model(plain);
    CHECK(model.parameter_count() == models::parameter_count(plain));
    Architecture separate, gated;  // parts that a family has no names for are refused where names are asked for
    separate.packed_qkv = false;
    gated.gated = true;
    for (const Architecture& a : {separate, gated})
        CHECK_THROWS_WITH(models::Transformer<float>(a).parameters(),
                          contains("gpt2: its files have no name for a part of this architecture"));
    Architecture no_gain, rms;  // a norm has a bias only where it has a gain and takes the mean away
    no_gain.norm_gain = false;
    rms.norm = models::NormKind::rms;
    for (Architecture a : {no_gain, rms}) {
        CHECK_THROWS_WITH(a.validate(), contains("norm_bias needs norm_gain, and NormKind::layer"));
        a.norm_bias = false;
        CHECK_NOTHROW(a.validate());
    }
}

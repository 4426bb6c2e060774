// The table of a decoder's parameters: their counts, and their roles for optimizers.
#include "models/parameters.h"

#include <limits>
#include <optional>

#include "engine/base/check.h"
#include "models/architecture.h"
#include "tests/catch.h"
#include "tests/models/architectures.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;

TEST_CASE("config: the number of parameters never wraps around", "[models]") {
    // 2^30 (V + T + 2 + L (12 2^30 + 13)) with this L, V and T is a multiple of 2^64
    const Architecture huge = gpt2_shape(1u << 30, 165191053, 1, 1u << 30, 1073741781);
    CHECK_NOTHROW(huge.validate());
    CHECK(models::parameter_count(huge) == std::numeric_limits<std::size_t>::max());
    Architecture other = nanochat_shape(65, 3, 4, 2, 32, 16);
    other.vocab_size = other.n_layer = other.n_embd = other.n_inner = 1u << 30;
    CHECK(models::parameter_count(other) == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("parameters: counted as they are made, for every family, and as many as known models have", "[models]") {
    for (const std::string& name : models::family_names()) {
        for (const bool bias : {false, true}) {
            Architecture a = shape_of(name.c_str(), 13, 3, 4, 32, 7, 0.0, bias);
            const models::Family& family = models::family(name);
            if (bias && family.has_flag("n-kv-head")) a.n_kv_head = 2;
            if (bias && family.has_flag("head-dim")) a.head_dim = 10;
            if (bias) a.n_inner = 50;
            models::Transformer<float> model(a);
            INFO(name);
            CHECK(model.parameter_count() == models::parameter_count(a));
            CHECK(models::parameters(a).size() == model.parameters().size());
            std::size_t looked_up = 0;  // tables that are no head
            for (const auto& [key, p] : model.parameters()) {
                const bool tokens = key.ends_with("embed_tokens.weight") || key.ends_with("embed_in.weight"),
                           positions = key.ends_with("wpe.weight");
                if ((tokens && !a.tied_head) || positions) looked_up += p.size();
            }
            CHECK(models::multiplied_count(a) == models::parameter_count(a) - looked_up);
        }
    }
    CHECK(models::parameter_count(gpt2_shape(50257, 12, 12, 768, 1024, 0.1)) == 124'439'808);  // GPT-2
    CHECK(models::parameter_count(gpt2_shape(65, 4, 4, 128, 64, 0.0, false)) == 804'096);
    // karpathy/nanochat-d32
    CHECK(models::parameter_count(nanochat_shape(65536, 32, 16, 16, 2048, 2048)) == 1'879'048'192);
    Architecture tiny_llama = llama_shape(32000, 22, 32, 4, 2048, 2048),
                 smollm2 = llama_shape(49152, 30, 9, 3, 576, 8192), llama2 = llama_shape(32000, 32, 32, 32, 4096, 4096);
    tiny_llama.n_inner = 5632;
    CHECK(models::parameter_count(tiny_llama) == 1'100'048'384);
    smollm2.n_inner = 1536, smollm2.tied_head = true;  // SmolLM2-135M
    CHECK(models::parameter_count(smollm2) == 134'515'008);
    llama2.n_inner = 11008;  // Llama-2-7b
    CHECK(models::parameter_count(llama2) == 6'738'415'616);
}

TEST_CASE("roles: the role of each parameter, in every family", "[models]") {
    const auto kind_of = [](const Architecture& a, const std::string& wanted) {
        models::Transformer<float> model(a);
        std::optional<nn::ParameterKind> found;
        nn::Visitor<float> visitor;
        visitor.on_parameter = [&](const std::string& name, Tensor<float>&, const nn::ParameterKind& kind) {
            if (name == wanted) found = kind;
        };
        model.visit(visitor);
        INFO(wanted);
        REQUIRE(found.has_value());
        return *found;
    };
    using nn::Role;
    const Architecture gpt2 = gpt2_shape(65, 1, 2, 6, 16), nanochat = nanochat_shape(65, 1, 4, 2, 24, 16),
                       llama = llama_shape(65, 1, 4, 2, 24, 16);
    CHECK(kind_of(gpt2, "transformer.wte.weight").role == Role::embedding);
    CHECK(kind_of(gpt2, "transformer.wpe.weight").role == Role::embedding);
    for (const Architecture& a : {nanochat, llama}) {
        CHECK(kind_of(a, "model.embed_tokens.weight").role == Role::embedding);
        CHECK(kind_of(a, "lm_head.weight").role == Role::head);
    }
    for (const char* name : {"transformer.h.0.attn.c_attn.weight", "transformer.h.0.mlp.c_proj.weight"})
        CHECK(kind_of(gpt2, name).role == Role::matrix);
    for (const char* name : {"model.layers.0.self_attn.o_proj.weight", "model.layers.0.mlp.fc1.weight"})
        CHECK(kind_of(nanochat, name).role == Role::matrix);
    for (const char* part : {"gate_proj", "up_proj", "down_proj"})
        CHECK(kind_of(llama, std::string("model.layers.0.mlp.") + part + ".weight").role == Role::matrix);
    for (const char* name : {"transformer.ln_f.weight", "transformer.h.0.attn.c_attn.bias"})
        CHECK(kind_of(gpt2, name).role == Role::vector);
    for (const char* name : {"model.norm.weight", "model.layers.0.input_layernorm.weight"})
        CHECK(kind_of(llama, name).role == Role::vector);

    // maps stacked in rows, and the heads in them
    const auto stacked = [&](const Architecture& a, const char* name, std::size_t maps, std::size_t head_size) {
        const nn::ParameterKind kind = kind_of(a, name);
        INFO(name);
        CHECK(kind.stacked == maps);
        CHECK(kind.head_size == head_size);
    };
    stacked(gpt2, "transformer.h.0.attn.c_attn.weight", 3, 3);
    stacked(gpt2, "transformer.h.0.attn.c_proj.weight", 1, 0);
    for (const Architecture& a : {nanochat, llama}) {
        for (const char* name : {"q_proj", "k_proj", "v_proj"})
            stacked(a, (std::string("model.layers.0.self_attn.") + name + ".weight").c_str(), 1, 6);
        stacked(a, "model.layers.0.self_attn.o_proj.weight", 1, 0);
    }
}

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

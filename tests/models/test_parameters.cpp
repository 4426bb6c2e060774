// The table of a decoder's parameters: their counts, and their roles for optimizers.
#include "models/parameters.h"

#include <limits>
#include <optional>

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
        CHECK((kind.stacked == maps && kind.head_size == head_size));
    };
    stacked(gpt2, "transformer.h.0.attn.c_attn.weight", 3, 3);
    stacked(gpt2, "transformer.h.0.attn.c_proj.weight", 1, 0);
    for (const Architecture& a : {nanochat, llama}) {
        for (const char* name : {"q_proj", "k_proj", "v_proj"})
            stacked(a, (std::string("model.layers.0.self_attn.") + name + ".weight").c_str(), 1, 6);
        stacked(a, "model.layers.0.self_attn.o_proj.weight", 1, 0);
    }
}

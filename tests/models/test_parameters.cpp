// The table of a decoder's parameters: their counts, and their roles for optimizers.
#include "models/parameters.h"

#include "models/architecture.h"
#include "tests/models/architectures.h"

TEST_CASE("config: the number of parameters never wraps around, and validate names the flag to change", "[models]") {
    // 2^30 (V + T + 2 + L (12 2^30 + 13)) with this L, V and T is a multiple of 2^64
    const Architecture huge = gpt2_shape(1u << 30, 165191053, 1, 1u << 30, 1073741781);
    CHECK_NOTHROW(huge.validate());
    CHECK(models::parameter_count(huge) == std::numeric_limits<std::size_t>::max());
    Architecture other = nanochat_shape(65, 3, 4, 2, 32, 16);
    other.vocab_size = other.n_layer = other.n_embd = other.n_inner = 1u << 30;
    CHECK(models::parameter_count(other) == std::numeric_limits<std::size_t>::max());
    CHECK_NOTHROW(Architecture{}.validate());
    const std::pair<void (*)(Architecture&), const char*> wrong[] = {
        {[](Architecture& c) { c.n_layer = 0; }, "--n-layer must be at least 1, got 0"},
        {[](Architecture& c) { c.n_head = 0; }, "--n-head"},
        {[](Architecture& c) { c.n_embd = static_cast<std::size_t>(-1); }, "--n-embd"},
        {[](Architecture& c) { c.block_size = 0; }, "--block-size"},
        {[](Architecture& c) { c.vocab_size = 0; }, "vocabulary"},
        {[](Architecture& c) { c.n_embd = 130; }, "130 and 4"},
        {[](Architecture& c) { c.n_kv_head = 2; }, "--n-kv-head is not for --arch gpt2"},
        {[](Architecture& c) { c.dropout = -0.1; }, "--dropout"},
        {[](Architecture& c) { c.dropout = 1; }, "--dropout"},
        {[](Architecture& c) { c.dropout = NAN; }, "--dropout"}};
    for (const auto& [change, message] : wrong) {
        Architecture config = gpt2_shape(65, 4, 4, 128, 64);
        CHECK_NOTHROW(config.validate());
        change(config);
        CHECK_THROWS_WITH(config.validate(), contains(message));
    }
    CHECK_THROWS_WITH(
        models::family("mamba"),
        contains("--arch must be one of gemma3, gpt-neox, gpt2, inkling, llama, nanochat, qwen2, qwen3, got 'mamba'"));
}

TEST_CASE("parameters: counted as they are made, for every family, and as many as known models have", "[models]") {
    for (const std::string& name : models::family_names())
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

TEST_CASE("parameters: roles, maps that are stacked in rows, and the heads in them, in every family", "[models]") {
    using enum models::ParameterName;
    using nn::Role;
    for (const std::string& name : models::family_names())
        for (const models::ParameterSpec& p : models::parameters(shape_of(name.c_str(), 13, 1, 4, 24, 7, 0.0, true))) {
            INFO(name << ", parameter " << static_cast<int>(p.name) << ", slot " << static_cast<int>(p.slot));
            const bool table = p.name == token_table || p.name == position_table;
            const bool heads = p.name == query_key_value || p.name == query || p.name == key || p.name == value;
            const bool matrix = p.shape.size() == 2;
            CHECK(p.kind.role == (!matrix          ? Role::vector
                                  : table          ? Role::embedding
                                  : p.name == head ? Role::head
                                                   : Role::matrix));
            CHECK(p.kind.stacked == (matrix && p.name == query_key_value ? 3 : 1));
            CHECK(p.kind.head_size == (matrix && heads ? 6 : 0));
        }
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

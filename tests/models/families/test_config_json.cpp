// config.json of every family: writing and reading, keys that are left out, errors.
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/models/architectures.h"
#include "tests/support/error_of.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;
using models::config_json;
using models::read_config;
using nlohmann::json;

namespace {

json good() { return config_json(gpt2_shape(65, 3, 2, 32, 16, 0.25, false, 1e-6)); }

Architecture nanochat() {
    Architecture a = nanochat_shape(65, 3, 4, 2, 32, 16, 0.25, true);
    a.n_inner = 100, a.rope_theta = 50000, a.softcap = 20;
    return a;
}

// A Llama with an explicit head size.
Architecture llama() {
    Architecture a = llama_shape(65, 3, 4, 2, 32, 16, 0.25);
    a.n_inner = 100, a.rope_theta = 500, a.head_dim = 12, a.norm_epsilon = 1e-5;
    return a;
}

// As it is read from a file's text.
Architecture reread(const json& j) { return read_config(json::parse(j.dump()), "c"); }

Architecture there_and_back(const Architecture& a, std::int64_t end = -1) { return reread(config_json(a, end)); }

// The error message for a config after one change; "" if it is read.
std::string refusal(const char* key, const json& value, json j = good()) {
    j[key] = value;
    const std::string error = error_of([&] { read_config(json::parse(j.dump()), "config.json"); });
    CHECK((error.empty() || error.starts_with("config.json: ")));
    return error;
}

}  // namespace

TEST_CASE("config.json: every choice of every family comes back as it was", "[models]") {
    std::vector<Architecture> all;
    const auto with = [&](const char* family, bool bias, auto change) {
        Architecture a = shape_of(family, 65, 3, 4, 32, 16, 0.25, bias);
        change(a);
        all.push_back(a);
    };
    using models::Activation, models::RopeScaling;
    for (const bool bias : {false, true}) {
        for (const std::string& name : models::family_names())
            with(name.c_str(), bias, [](auto& a) { a.n_inner = a.packed_qkv ? a.n_inner : 100; });
        for (const char* name : {"llama", "qwen2", "qwen3"}) {
            with(name, bias, [](auto& a) { a.n_inner = 100, a.rope = {RopeScaling::llama3, 8, 1, 4, 8192}; });
            with(name, bias, [](auto& a) {
                a.n_inner = 100, a.n_kv_head = 2, a.head_dim = 12, a.tied_head = true;
                a.rope = {.scaling = RopeScaling::linear, .factor = 2.5};
            });
        }
        for (const Activation activation :
             {Activation::gelu_tanh, Activation::gelu_erf, Activation::relu, Activation::silu}) {
            with("gpt2", bias, [=](auto& a) {
                a.activation = activation, a.n_inner = 50, a.tied_head = false, a.scale_by_layer = true;
            });
            with("gpt-neox", bias, [=](auto& a) {
                a.activation = activation, a.n_inner = 50, a.tied_head = true, a.parallel_residual = false;
                a.rotary_part = 0.5, a.rope_theta = 500;
            });
        }
    }
    with("gpt2", false, [](auto& a) { a.norm_epsilon = 1e-6; });
    for (const double cap : {0.0, 20.0})
        with("nanochat", true,
             [=](auto& a) { a.n_inner = 100, a.softcap = cap, a.n_kv_head = 2, a.rope_theta = 50000; });
    with("llama", false, [](auto& a) { a.n_inner = 100, a.mlp_bias = true, a.norm_epsilon = 1e-5; });
    with("llama", true, [](auto& a) { a.n_inner = 100, a.mlp_bias = false; });
    for (const Architecture& a : all) {
        INFO(config_json(a).dump());
        CHECK(there_and_back(a) == a);
    }
}

TEST_CASE("config.json: Mistral is a Llama that may have a window, Qwen's heads are 128 wide", "[models]") {
    json j = config_json(llama());
    j["model_type"] = "mistral";
    j["sliding_window"] = nullptr;
    CHECK(reread(j) == llama());
    j["sliding_window"] = 16;
    CHECK(reread(j) == llama());
    j["sliding_window"] = 15;
    CHECK(reread(j).window == 15);
    CHECK(there_and_back(reread(j)) == reread(j));
    j.erase("sliding_window");  // 4096
    CHECK(reread(j) == llama());
    j["max_position_embeddings"] = 8192;
    CHECK(reread(j).window == 4096);
    for (const char* family : {"qwen2", "qwen3"}) {
        Architecture a = llama();
        json q = config_json(shape_of(family, 65, 3, 4, 32, 16, 0, false));
        q["sliding_window"] = 4;
        CHECK(reread(q).block_size == 16);                      // not used
        CHECK(refusal("use_sliding_window", true, q).empty());  // in layers from max_window_layers, 28, on
        q["use_sliding_window"] = true;
        CHECK(refusal("max_window_layers", 3, q).empty());
        CHECK_THAT(refusal("max_window_layers", 2, q), contains("sliding_window 4 is smaller"));
        q["max_window_layers"] = 0;
        CHECK_THAT(refusal("vocab_size", 9, q), contains("sliding_window 4 is smaller"));
        CHECK(refusal("sliding_window", nullptr, q).empty());
        CHECK(refusal("layer_types", {"full_attention", "full_attention", "full_attention"}, q).empty());
        q["max_window_layers"] = 28;
        CHECK_THAT(refusal("layer_types", {"full_attention", "sliding_attention", "full_attention"}, q),
                   contains("sliding_window 4 is smaller"));
        CHECK_THAT(refusal("layer_types", 3, q), contains("layer_types must be a list of texts, got 3"));
        q.erase("head_dim");
        CHECK(reread(q).head_size() == (std::string(family) == "qwen3" ? 128 : 8));
    }
    CHECK_THAT(refusal("attention_bias", false, config_json(shape_of("gpt-neox", 65, 3, 4, 32, 16, 0, true))),
               contains("attention_bias false is not supported"));
    CHECK_THAT(refusal("hidden_act", "mish", config_json(shape_of("gpt-neox", 65, 3, 4, 32, 16, 0, true))),
               contains("hidden_act 'mish' is not supported"));
}

TEST_CASE("config.json: Pythia's keys, and older names of the angles", "[models]") {
    const auto pythia = json::parse(R"({"model_type": "gpt_neox", "vocab_size": 9, "hidden_size": 32,
        "num_hidden_layers": 1, "rotary_pct": 0.5, "num_attention_heads": 2, "max_position_embeddings": 16,
        "intermediate_size": 128, "rotary_emb_base": 700})");
    const Architecture a = reread(pythia);
    CHECK((a.family == "gpt-neox" && a.rotary_size() == 8 && a.rope_theta == 700 && a.parallel_residual));
    CHECK((a.qkv_bias && a.mlp_bias && a.norm_bias && !a.tied_head && a.activation == models::Activation::gelu_erf));
    CHECK(a.n_inner == 0);
    json old = config_json(llama());
    old.erase("rope_parameters");
    old["rope_theta"] = 20;
    old["rope_scaling"] = {{"type", "linear"}, {"factor", 3}};
    CHECK((reread(old).rope_theta == 20 && reread(old).rope.factor == 3));
    old["rope_scaling"] = json::parse(R"({"rope_type": "llama3", "factor": 32, "low_freq_factor": 1,
        "high_freq_factor": 4, "original_max_position_embeddings": 8192})");
    const models::RopeOptions want{models::RopeScaling::llama3, 32, 1, 4, 8192};
    CHECK((reread(old).rope == want && reread(old).rope_theta == 20));
}

TEST_CASE("config.json: whether texts begin after an end of text", "[models]") {
    for (Architecture config : {models::family("gpt2").defaults(true), nanochat()}) {
        for (const bool has : {true, false}) {
            config.has_bos = has;
            const json j = config_json(config, 7);
            CHECK(j["eos_token_id"] == 7);
            CHECK(j["bos_token_id"] == (has ? json(7) : json(nullptr)));
            CHECK(there_and_back(config, 7) == config);
        }
        CHECK(there_and_back(config).has_bos);  // there is no such token
    }
}

TEST_CASE("config.json: has what transformers needs to open the model", "[models]") {
    // `whole` with the keys and values of `part` stays as it is
    const auto check_has = [](const json& whole, const char* part) {
        json same = whole;
        same.update(json::parse(part), true);
        CHECK(same == whole);
    };
    check_has(good(), R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "eos_token_id": null,
        "activation_function": "gelu_new", "tie_word_embeddings": true, "n_positions": 16})");
    check_has(config_json(gpt2_shape(65, 3, 2, 32, 16), 5), R"({"eos_token_id": 5})");
    check_has(config_json(nanochat()), R"({"architectures": ["NanoChatForCausalLM"], "model_type": "nanochat",
        "hidden_act": "relu2", "tie_word_embeddings": false, "num_key_value_heads": 2, "intermediate_size": 100,
        "final_logit_softcapping": 20.0, "rope_parameters": {"rope_theta": 50000.0, "rope_type": "default"}})");
    check_has(config_json(llama(), 3), R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_act": "silu", "tie_word_embeddings": false, "num_key_value_heads": 2, "intermediate_size": 100,
        "head_dim": 12, "attention_bias": false, "mlp_bias": false, "rms_norm_eps": 1e-5, "eos_token_id": 3,
        "rope_parameters": {"rope_theta": 500.0}})");
}

TEST_CASE("config.json: what is left out has GPT-2's value", "[models]") {
    const auto least = json::parse(
        R"({"model_type": "gpt2", "vocab_size": 9, "n_layer": 1, "n_head": 1, "n_embd": 4, "n_positions": 2})");
    const Architecture config = reread(least);
    CHECK((config.qkv_bias && config.attention_bias && config.mlp_bias && config.norm_bias));
    CHECK(config.norm_epsilon == 1e-5);
    CHECK(config.dropout == 0.1);
    for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"}) {
        json j = least;
        j.erase(key);
        CHECK_THROWS_WITH(reread(j), contains(key, "got nothing"));
    }
}

TEST_CASE("config.json: what is left out has the value of NanoChatConfig and LlamaConfig, old names are read",
          "[models]") {
    for (const std::string family : {"nanochat", "llama"}) {
        INFO(family);
        json least = {{"model_type", family},        {"vocab_size", 9},         {"hidden_size", 8},
                      {"num_hidden_layers", 1},      {"intermediate_size", 12}, {"num_attention_heads", 2},
                      {"max_position_embeddings", 2}};
        const auto read = [&] { return reread(least); };
        const Architecture config = read();
        CHECK((config.kv_heads() == 2 && config.head_size() == 4 && config.inner() == 12 && config.dropout == 0));
        CHECK((!config.qkv_bias && !config.attention_bias && !config.mlp_bias && !config.norm_bias));
        CHECK((config.rope_theta == 10000 && config.norm_epsilon == 1e-6 && !config.tied_head));
        CHECK(config.softcap == (family == "nanochat" ? 15 : 0));
        least["rope_theta"] = 500.0;  // before transformers 5
        least["rope_scaling"] = least["final_logit_softcapping"] = nullptr;
        CHECK((read().rope_theta == 500 && read().softcap == 0));
        least["rope_parameters"] = {{"rope_theta", 700.0}};
        CHECK(read().rope_theta == 700);
    }
}

TEST_CASE("config.json: what older files lack has the value of each family's class", "[models]") {
    const auto without = [](const char* family, const char* key) {
        const bool mistral = std::string(family) == "mistral";
        json j = config_json(shape_of(mistral ? "llama" : family, 65, 3, 32, 256, 16, 0, false));
        if (mistral) j["model_type"] = family, j["sliding_window"] = nullptr;
        j.erase(key);
        return reread(j);
    };
    const std::tuple<const char*, std::size_t, std::size_t> defaults[] = {{"llama", 2048, 32},
                                                                          {"qwen2", 32768, 32},
                                                                          {"qwen3", 32768, 32},
                                                                          {"nanochat", 2048, 32},
                                                                          {"mistral", 131072, 8}};
    for (const auto& [family, context, heads] : defaults) {
        CHECK(without(family, "max_position_embeddings").block_size == context);
        CHECK(without(family, "num_key_value_heads").kv_heads() == heads);
    }
    CHECK(without("gpt-neox", "max_position_embeddings").block_size == 2048);
}

TEST_CASE("config.json: Gemma 3 as the Hub has it, and inside of a model of pictures", "[models]") {
    // google/gemma-3-4b-it leaves out its class's defaults; older files have both rotary bases side by side
    json text = json::parse(R"({"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
        "num_hidden_layers": 34, "sliding_window": 1024, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}})");
    const json whole = {{"model_type", "gemma3"}, {"text_config", text}, {"eos_token_id", {1, 106}}};
    const Architecture a = reread(whole);
    CHECK((a.family == "gemma3" && a.vocab_size == 262208 && a.n_head == 8 && a.kv_heads() == 4 && a.n_layer == 34));
    CHECK((a.head_size() == 256 && a.block_size == 131072 && a.window == 1024 && a.global_every == 6));
    CHECK((a.is_local(4) && !a.is_local(5) && a.window_of(4) == 1024 && a.window_of(5) == 0));
    CHECK((a.rope_theta == 1e6 && a.rope.factor == 8 && a.local_rope_theta == 1e4 && a.score_width == 0));
    CHECK((a.tied_head && a.scaled_embedding && a.post_norms && a.norm_gain_plus_one));
    CHECK(there_and_back(a) == a);
    text["vocab_size"] = 262144, text["rope_local_base_freq"] = 2e4, text["query_pre_attn_scalar"] = 168;
    const Architecture alone = reread(text);
    CHECK((alone.vocab_size == 262144 && alone.local_rope_theta == 2e4 && alone.score_width == 168));
    CHECK(alone.attention_scale(3) == 1 / std::sqrt(168.0));
    text["sliding_window_pattern"] = 2;
    CHECK(reread(text).global_every == 2);
    text["num_hidden_layers"] = 3;
    const auto with_types = [&](const char* b, const char* c) {
        return json{"sliding_attention", std::string(b) + "_attention", std::string(c) + "_attention"};
    };
    text["layer_types"] = with_types("sliding", "full");
    CHECK(reread(text).global_every == 3);
    text["layer_types"] = with_types("sliding", "sliding");
    CHECK(reread(text).global_every == 0);
    CHECK_THAT(refusal("layer_types", with_types("full", "full"), text), contains("layer_types"));
    CHECK_THAT(refusal("layer_types", json{"full_attention"}, text), contains("must hold 3 types, got 1"));
    CHECK_THAT(refusal("attn_logit_softcapping", 50, text),
               contains("attn_logit_softcapping 50 is not supported: models without a cap are"));
    CHECK_THAT(refusal("use_bidirectional_attention", true, text), contains("use_bidirectional_attention"));
    CHECK_THAT(refusal("model_type", "gemma2", text), contains("model_type 'gemma2' is not supported"));
    CHECK_THAT(refusal("model_type", "llava", whole), contains("model_type 'llava' is not supported"));
}

TEST_CASE("config.json: activations have the names that transformers knows", "[models]") {
    for (const char* family : {"llama", "qwen2", "qwen3"}) {
        const json j = config_json(shape_of(family, 65, 3, 4, 32, 16, 0, false));
        for (const char* known : {"silu", "swish"}) CHECK(refusal("hidden_act", known, j).empty());
        for (const char* other : {"gelu", "mish"})
            CHECK_THAT(refusal("hidden_act", other, j),
                       contains(std::string("hidden_act '") + other + "' is not supported: silu is"));
    }
    using models::Activation;
    const std::pair<const char*, Activation> names[] = {{"gelu_new", Activation::gelu_tanh},
                                                        {"gelu_fast", Activation::gelu_tanh},
                                                        {"gelu_accurate", Activation::gelu_tanh},
                                                        {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                        {"gelu_python_tanh", Activation::gelu_tanh},
                                                        {"gelu", Activation::gelu_erf},
                                                        {"gelu_python", Activation::gelu_erf},
                                                        {"relu", Activation::relu},
                                                        {"silu", Activation::silu},
                                                        {"swish", Activation::silu}};
    for (const auto& [name, activation] : names) {
        json j = good();
        j["activation_function"] = name;
        CHECK(reread(j).activation == activation);
    }
}

TEST_CASE("config.json: models of other kinds are refused by name", "[models]") {
    CHECK(refusal("n_layer", 4).empty());
    CHECK_THAT(refusal("model_type", "mamba"), contains("model_type 'mamba' is not supported"));
    CHECK_THAT(refusal("model_type", 5), contains("model_type must be a text, got 5"));
    CHECK_THAT(refusal("activation_function", "tanh"),
               contains("activation_function 'tanh' is not supported: gelu_new, gelu, relu and silu are"));
    CHECK_THAT(refusal("tie_word_embeddings", "no"), contains("tie_word_embeddings must be true or false"));
    CHECK_THAT(refusal("scale_attn_weights", false), contains("scale_attn_weights false is not supported"));
    CHECK_THAT(refusal("add_cross_attention", true), contains("add_cross_attention true is not"));
    CHECK_THAT(refusal("scale_attn_by_inverse_layer_idx", 1), contains("layer_idx must be true or false"));
    CHECK_THAT(refusal("quantization_config", {{"bits", 4}}), contains("quantization_config"));
    CHECK_THAT(refusal("n_inner", 0), contains("n_inner"));
    CHECK(refusal("n_inner", 128).empty());
    CHECK(refusal("n_inner", 100).empty());
    for (const json& j : {json::array(), json(3), json(nullptr), json("gpt2")})
        CHECK_THROWS_AS(read_config(j, "c"), BadInput);
}

TEST_CASE("config.json: nanochat and llama with what would change the function are refused by name", "[models]") {
    json config;
    const auto refuses = [&](const char* key, const json& value, const std::string& text) {
        CHECK_THAT(refusal(key, value, config), contains(text));
    };
    for (const Architecture& a : {nanochat(), llama()}) {
        config = config_json(a);
        CHECK(refusal("num_key_value_heads", 4, config).empty());
        refuses("rope_parameters", {{"rope_theta", 1e4}, {"partial_rotary_factor", 0.5}},
                "partial_rotary_factor must be 1");
        refuses("rope_parameters", {{"rope_theta", -1}}, "rope_theta");
        refuses("num_key_value_heads", 3, "--n-kv-head, got 4 and 3");
        refuses("intermediate_size", nullptr, "intermediate_size");
        refuses("quantization_config", {{"bits", 4}}, "quantization_config");
    }
    config = config_json(nanochat());
    CHECK(refusal("head_dim", 8, config).empty());
    refuses("hidden_act", "silu", "hidden_act 'silu' is not supported: relu2 is");
    refuses("tie_word_embeddings", true, "tie_word_embeddings true is not supported: models with false are");
    refuses("rope_parameters", {{"rope_type", "yarn"}, {"rope_theta", 1e4}}, "rope_type 'yarn' is not supported");
    refuses("rope_parameters", 3, "rope_parameters must be an object");
    refuses("rope_scaling", {{"type", "linear"}}, "rope_scaling");
    refuses("head_dim", 16, "head_dim");
    refuses("final_logit_softcapping", 0, "final_logit_softcapping");
    refuses("final_logit_softcapping", -15.0, "final_logit_softcapping");
    refuses("num_attention_heads", 32, "even width");
    config = config_json(llama());
    CHECK(refusal("tie_word_embeddings", true, config).empty());
    CHECK(refusal("head_dim", nullptr, config).empty());
    CHECK(refusal("pretraining_tp", 1, config).empty());
    refuses("hidden_act", "gelu", "hidden_act 'gelu' is not supported: silu is");
    for (const std::string type : {"yarn", "longrope", "dynamic"})
        refuses("rope_parameters", {{"rope_type", type}, {"rope_theta", 5e5}, {"factor", 2}},
                "rope_type '" + type + "' is not supported: default, linear and llama3 are");
    refuses("rope_parameters", {{"rope_type", "llama3"}, {"rope_theta", 5e5}}, "factor must be above 0, got nothing");
    refuses("rope_parameters", {{"rope_type", "linear"}, {"factor", -1}}, "factor must be above 0, got -1");
    refuses("rope_parameters", {{"rope_type", "linear"}, {"factor", 0.5}}, "factor of rotary positions");
    refuses("rope_parameters",
            {{"rope_type", "llama3"}, {"factor", 2}, {"low_freq_factor", 4}, {"high_freq_factor", 1}},
            "high_freq_factor above a low_freq_factor above 0, got 1 and 4");
    refuses("rope_scaling", {{"type", "dynamic"}, {"factor", 2}}, "rope_scaling");
    refuses("head_dim", 5, "even width, got 5");
    refuses("head_dim", 0, "head_dim must be a whole number");
    refuses("rms_norm_eps", 0, "rms_norm_eps must be above 0");
    refuses("attention_bias", "yes", "attention_bias must be true or false");
    refuses("mlp_bias", 1, "mlp_bias must be true or false");
}

TEST_CASE("config.json: senseless values are refused", "[models]") {
    for (const json& value : {json(0), json(-1), json(1.5), json("4"), json(nullptr), json(1ull << 31), json(~0ull)}) {
        for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"}) {
            INFO(key << " = " << value.dump());
            CHECK_THAT(refusal(key, value), contains(key));
        }
    }
    CHECK_THAT(refusal("n_head", 5), contains("divisible"));
    CHECK_THAT(refusal("resid_pdrop", 1.0), contains("dropout"));
    CHECK_THAT(refusal("resid_pdrop", "much"), contains("resid_pdrop"));
    CHECK_THAT(refusal("layer_norm_epsilon", 0), contains("layer_norm_epsilon"));
    CHECK_THAT(refusal("bias", 1), contains("bias"));
}

TEST_CASE("config.json: messages stay one short line whatever a value holds", "[models]") {
    for (const std::string key : {"model_type", "activation_function", "n_layer", "bias", "resid_pdrop"}) {
        for (const nlohmann::json& value :
             {nlohmann::json("a\nb\x1b[31m" + std::string(100000, 'x')), nlohmann::json(std::vector<int>(100000, 1))}) {
            const std::string message = refusal(key.c_str(), value);
            INFO(key);
            CHECK((!message.empty() && message.size() < 300));
            CHECK(message.find_first_of("\n\x1b") == std::string::npos);
        }
    }
}

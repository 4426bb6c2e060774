// GPTConfig: what makes sense, and config.json there and back.
#include "models/gpt_config.h"

#include <nlohmann/json.hpp>

#include "engine/check.h"
#include "tests/catch.h"

using namespace inkling;
using models::GPTConfig;
using nlohmann::json;

namespace {

json good() { return GPTConfig{65, 3, 2, 32, 16, 0.25, false, 1e-6}.to_json(); }

GPTConfig nanochat() {
    GPTConfig config{65, 3, 4, 32, 16, 0.25, true, 1e-6};
    config.arch = models::Arch::nanochat;
    config.n_kv_head = 2, config.n_inner = 100, config.rope_theta = 50000, config.softcap = 20;
    return config;
}

// The message that a config is refused with after one change; "" when it is read.
std::string refusal(const char* key, const json& value, json j = good()) {
    j[key] = value;
    try {
        GPTConfig::from_json(json::parse(j.dump()), "config.json");
    } catch (const BadInput& e) {
        CHECK(std::string(e.what()).starts_with("config.json: "));
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("config.json: comes back as it was", "[models]") {
    for (const bool bias : {true, false}) {
        const GPTConfig config{65, 3, 2, 32, 16, 0.1, bias, 1e-6};
        const GPTConfig back = GPTConfig::from_json(json::parse(config.to_json(7).dump()), "c");
        CHECK(back.vocab_size == 65);
        CHECK(back.n_layer == 3);
        CHECK(back.n_head == 2);
        CHECK(back.n_embd == 32);
        CHECK(back.block_size == 16);
        CHECK(back.dropout == 0.1);
        CHECK(back.bias == bias);
        CHECK(back.layer_norm_epsilon == 1e-6);
    }
    for (const double cap : {0.0, 20.0}) {
        GPTConfig config = nanochat();
        config.softcap = cap;
        CHECK(GPTConfig::from_json(json::parse(config.to_json().dump()), "c") == config);
    }
}

TEST_CASE("config.json: has what transformers needs to open the model", "[models]") {
    const json j = good();
    CHECK(j["architectures"] == json::array({"GPT2LMHeadModel"}));
    CHECK(j["model_type"] == "gpt2");
    CHECK(j["activation_function"] == "gelu_new");
    CHECK(j["tie_word_embeddings"] == true);
    CHECK(j["n_positions"] == 16);
    CHECK(j["eos_token_id"].is_null());
    CHECK(GPTConfig{}.to_json(5)["eos_token_id"] == 5);
    const json n = nanochat().to_json();
    CHECK(n["architectures"] == json::array({"NanoChatForCausalLM"}));
    CHECK((n["model_type"] == "nanochat" && n["hidden_act"] == "relu2" && n["tie_word_embeddings"] == false));
    CHECK((n["num_key_value_heads"] == 2 && n["intermediate_size"] == 100 && n["final_logit_softcapping"] == 20.0));
    CHECK((n["rope_parameters"]["rope_theta"] == 50000.0 && n["rope_parameters"]["rope_type"] == "default"));
}

TEST_CASE("config.json: what is left out has GPT-2's value", "[models]") {
    const json least = {{"model_type", "gpt2"}, {"vocab_size", 9}, {"n_layer", 1},
                        {"n_head", 1},          {"n_embd", 4},     {"n_positions", 2}};
    const GPTConfig config = GPTConfig::from_json(json::parse(least.dump()), "c");
    CHECK(config.bias);
    CHECK(config.layer_norm_epsilon == 1e-5);
    CHECK(config.dropout == 0.1);
    for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"}) {
        json j = least;
        j.erase(key);
        CHECK_THROWS_WITH(GPTConfig::from_json(json::parse(j.dump()), "c"),
                          ContainsSubstring(key) && ContainsSubstring("got nothing"));
    }
}

TEST_CASE("config.json: what is left out has NanoChatConfig's value, old names are read", "[models]") {
    json least = {{"model_type", "nanochat"},    {"vocab_size", 9},         {"hidden_size", 4},
                  {"num_hidden_layers", 1},      {"intermediate_size", 16}, {"num_attention_heads", 2},
                  {"max_position_embeddings", 2}};
    const auto read = [&] { return GPTConfig::from_json(json::parse(least.dump()), "c"); };
    const GPTConfig config = read();
    CHECK((config.kv_heads() == 2 && config.inner() == 16 && !config.bias && config.dropout == 0));
    CHECK((config.softcap == 15 && config.rope_theta == 10000 && config.layer_norm_epsilon == 1e-6));
    least["rope_theta"] = 500.0;  // before transformers 5
    least["final_logit_softcapping"] = nullptr;
    CHECK((read().rope_theta == 500 && read().softcap == 0));
}

TEST_CASE("config.json: models of other kinds are refused by name", "[models]") {
    CHECK(refusal("n_layer", 4).empty());
    CHECK_THAT(refusal("model_type", "llama"), ContainsSubstring("model_type 'llama' is not supported"));
    CHECK_THAT(refusal("model_type", 5), ContainsSubstring("model_type must be a text, got 5"));
    CHECK_THAT(refusal("activation_function", "relu"), ContainsSubstring("'relu'"));
    CHECK(refusal("activation_function", "gelu_pytorch_tanh").empty());
    CHECK_THAT(refusal("tie_word_embeddings", false), ContainsSubstring("tie_word_embeddings false is not"));
    CHECK_THAT(refusal("scale_attn_weights", false), ContainsSubstring("scale_attn_weights false is not supported"));
    CHECK_THAT(refusal("add_cross_attention", true), ContainsSubstring("add_cross_attention true is not"));
    CHECK_THAT(refusal("scale_attn_by_inverse_layer_idx", true), ContainsSubstring("layer_idx true is not supported"));
    CHECK_THAT(refusal("quantization_config", {{"bits", 4}}), ContainsSubstring("quantization_config"));
    CHECK_THAT(refusal("n_inner", 100), ContainsSubstring("n_inner"));
    CHECK(refusal("n_inner", 128).empty());
    for (const json& j : {json::array(), json(3), json(nullptr), json("gpt2")})
        CHECK_THROWS_AS(GPTConfig::from_json(j, "c"), BadInput);
}

TEST_CASE("config.json: nanochat with what would change the function is refused by name", "[models]") {
    const auto refuses = [](const char* key, const json& value, const char* text) {
        CHECK_THAT(refusal(key, value, nanochat().to_json()), ContainsSubstring(text));
    };
    CHECK(refusal("num_key_value_heads", 4, nanochat().to_json()).empty());
    CHECK(refusal("head_dim", 8, nanochat().to_json()).empty());
    refuses("hidden_act", "silu", "hidden_act 'silu' is not supported: relu2 is");
    refuses("tie_word_embeddings", true, "tie_word_embeddings true is not supported: false is");
    refuses("rope_parameters", {{"rope_type", "yarn"}, {"rope_theta", 1e4}}, "rope_type 'yarn' is not supported");
    refuses("rope_parameters", {{"rope_theta", 1e4}, {"partial_rotary_factor", 0.5}},
            "partial_rotary_factor must be 1");
    refuses("rope_parameters", {{"rope_theta", 0}}, "rope_theta");
    refuses("rope_parameters", 3, "rope_parameters must be an object");
    refuses("rope_scaling", {{"type", "linear"}}, "rope_scaling");
    refuses("head_dim", 16, "head_dim");
    refuses("final_logit_softcapping", 0, "final_logit_softcapping");
    refuses("final_logit_softcapping", -15.0, "final_logit_softcapping");
    refuses("num_key_value_heads", 3, "--n-kv-head");
    refuses("num_attention_heads", 32, "even width");
    refuses("intermediate_size", nullptr, "intermediate_size");
    refuses("quantization_config", {{"bits", 4}}, "quantization_config");
}

TEST_CASE("config.json: senseless values are refused", "[models]") {
    for (const json& value : {json(0), json(-1), json(1.5), json("4"), json(nullptr), json(1ull << 31), json(~0ull)}) {
        for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"}) {
            INFO(key << " = " << value.dump());
            CHECK_THAT(refusal(key, value), ContainsSubstring(key));
        }
    }
    CHECK_THAT(refusal("n_head", 5), ContainsSubstring("divisible"));
    CHECK_THAT(refusal("resid_pdrop", 1.0), ContainsSubstring("dropout"));
    CHECK_THAT(refusal("resid_pdrop", "much"), ContainsSubstring("resid_pdrop"));
    CHECK_THAT(refusal("layer_norm_epsilon", 0), ContainsSubstring("layer_norm_epsilon"));
    CHECK_THAT(refusal("bias", 1), ContainsSubstring("bias"));
}

TEST_CASE("config: validate names the flag to change", "[models]") {
    const auto with = [](auto change) {
        GPTConfig config;
        change(config);
        return config;
    };
    CHECK_NOTHROW(GPTConfig{}.validate());
    CHECK_THROWS_WITH(with([](auto& c) { c.n_layer = 0; }).validate(),
                      ContainsSubstring("--n-layer must be at least 1, got 0"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_head = 0; }).validate(), ContainsSubstring("--n-head"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_embd = static_cast<std::size_t>(-1); }).validate(),
                      ContainsSubstring("--n-embd"));
    CHECK_THROWS_WITH(with([](auto& c) { c.block_size = 0; }).validate(), ContainsSubstring("--block-size"));
    CHECK_THROWS_WITH(with([](auto& c) { c.vocab_size = 0; }).validate(), ContainsSubstring("vocabulary"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_embd = 130; }).validate(), ContainsSubstring("130 and 4"));
    CHECK_THROWS_WITH(with([](auto& c) { c.n_kv_head = 2; }).validate(),
                      ContainsSubstring("--n-kv-head is for --arch nanochat"));
    CHECK_THROWS_WITH(models::arch_from_name("llama"), ContainsSubstring("--arch must be one of gpt2, nanochat"));
    for (const double p : {-0.1, 1.0, std::nan("")})
        CHECK_THROWS_WITH(with([p](auto& c) { c.dropout = p; }).validate(), ContainsSubstring("--dropout"));
}

TEST_CASE("config: the number of parameters never wraps around", "[models]") {
    // 2^30 (V + T + 2 + L (12 2^30 + 13)) with this L, V and T is a multiple of 2^64
    const GPTConfig huge{1u << 30, 165191053, 1, 1u << 30, 1073741781, 0.0, true, 1e-5};
    CHECK_NOTHROW(huge.validate());
    CHECK(huge.parameter_count() == std::numeric_limits<std::size_t>::max());
    GPTConfig other = nanochat();
    other.vocab_size = other.n_layer = other.n_embd = other.n_inner = 1u << 30;
    CHECK(other.parameter_count() == std::numeric_limits<std::size_t>::max());
}

TEST_CASE("config.json: messages stay one short line whatever a value holds", "[models]") {
    for (const std::string key : {"model_type", "activation_function", "n_layer", "bias", "resid_pdrop"}) {
        for (const nlohmann::json& value :
             {nlohmann::json("a\nb\x1b[31m" + std::string(100000, 'x')), nlohmann::json(std::vector<int>(100000, 1))}) {
            nlohmann::json j = GPTConfig().to_json();
            j[key] = value;
            std::string message;
            try {
                GPTConfig::from_json(j, "config.json");
            } catch (const BadInput& e) {
                message = e.what();
            }
            INFO(key);
            CHECK((!message.empty() && message.size() < 300));
            CHECK(message.find_first_of("\n\x1b") == std::string::npos);
        }
    }
}

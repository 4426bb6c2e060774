// config.json of every family: writing and reading, keys that are left out, errors.
#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/models/architectures.h"
#include "tests/support/error_of.h"
#include "tests/support/json_changes.h"

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

// The error message for a config; "" if it is read.
std::string refusal(const json& j) {
    const std::string error = error_of([&] { read_config(json::parse(j.dump()), "config.json"); });
    if (error.empty()) return error;
    CHECK(error.starts_with("config.json: "));
    CHECK(error.size() < 300);  // one short line, whatever a value holds
    CHECK(error.find_first_of("\n\x1b") == std::string::npos);
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
        json q = config_json(shape_of(family, 65, 3, 4, 32, 16, 0, false));
        q["sliding_window"] = 4;
        CHECK(reread(q).block_size == 16);  // not used; else in layers from max_window_layers, 28, on
        check_changes(q, refusal, R"json([
            [{"/use_sliding_window": true}, ""],
            [{"/use_sliding_window": true, "/max_window_layers": 3}, ""],
            [{"/use_sliding_window": true, "/max_window_layers": 2}, "sliding_window 4 is smaller"],
            [{"/use_sliding_window": true, "/max_window_layers": 0}, "sliding_window 4 is smaller"],
            [{"/use_sliding_window": true, "/max_window_layers": 0, "/sliding_window": null}, ""],
            [{"/use_sliding_window": true, "/max_window_layers": 0,
              "/layer_types": ["full_attention", "full_attention", "full_attention"]}, ""],
            [{"/use_sliding_window": true, "/layer_types": ["full_attention", "sliding_attention", "full_attention"]},
             "sliding_window 4 is smaller"],
            [{"/use_sliding_window": true, "/layer_types": 3}, "layer_types must be a list of texts, got 3"]
        ])json");
        q.erase("head_dim");
        CHECK(reread(q).head_size() == (std::string(family) == "qwen3" ? 128 : 8));
    }
}

TEST_CASE("config.json: older names of the angles, and which of two wins", "[models]") {
    json old = config_json(llama());
    old.erase("rope_parameters");
    old["rope_theta"] = 20;
    old["rope_scaling"] = {{"type", "linear"}, {"factor", 3}};
    CHECK(reread(old).rope_theta == 20);
    CHECK(reread(old).rope.factor == 3);
    old["rope_scaling"] = json::parse(R"({"rope_type": "llama3", "factor": 32, "low_freq_factor": 1,
        "high_freq_factor": 4, "original_max_position_embeddings": 8192})");
    const models::RopeOptions want{models::RopeScaling::llama3, 32, 1, 4, 8192};
    CHECK(reread(old).rope == want);
    CHECK(reread(old).rope_theta == 20);
    for (json j : {config_json(nanochat()), config_json(llama())}) {
        j.erase("rope_parameters");
        j["rope_theta"] = 500.0;  // before transformers 5
        j["rope_scaling"] = nullptr;
        CHECK(reread(j).rope_theta == 500);
        j["rope_parameters"] = {{"rope_theta", 700.0}};
        CHECK(reread(j).rope_theta == 700);
    }
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

TEST_CASE("config.json: what is left out has the value of transformers' class", "[models]") {
    // the least of a file, and what it need not have
    const auto table = json::parse(R"json([
        [{"model_type": "gpt2", "vocab_size": 9, "n_layer": 1, "n_head": 1, "n_embd": 4, "n_positions": 2},
         {"bias": true, "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1, "tie_word_embeddings": true}],
        [{"model_type": "nanochat", "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1,
          "intermediate_size": 12, "num_attention_heads": 2},
         {"num_key_value_heads": 2, "max_position_embeddings": 2048, "attention_bias": false, "rope_theta": 10000,
          "rms_norm_eps": 1e-6, "attention_dropout": 0, "tie_word_embeddings": false, "final_logit_softcapping": 15}],
        [{"model_type": "llama", "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1,
          "intermediate_size": 12, "num_attention_heads": 2},
         {"num_key_value_heads": 2, "max_position_embeddings": 2048, "head_dim": 4, "attention_bias": false,
          "mlp_bias": false, "rope_theta": 10000, "rms_norm_eps": 1e-6, "attention_dropout": 0,
          "tie_word_embeddings": false}],
        [{"model_type": "mistral", "vocab_size": 9, "hidden_size": 64, "num_hidden_layers": 1,
          "intermediate_size": 12, "num_attention_heads": 32, "sliding_window": null},
         {"num_key_value_heads": 8, "max_position_embeddings": 131072}],
        [{"model_type": "qwen2", "vocab_size": 9, "hidden_size": 64, "num_hidden_layers": 1,
          "intermediate_size": 12, "num_attention_heads": 32},
         {"num_key_value_heads": 32, "max_position_embeddings": 32768}],
        [{"model_type": "qwen3", "vocab_size": 9, "hidden_size": 64, "num_hidden_layers": 1,
          "intermediate_size": 12, "num_attention_heads": 32},
         {"num_key_value_heads": 32, "max_position_embeddings": 32768, "head_dim": 128}],
        [{"model_type": "gpt_neox", "vocab_size": 9, "hidden_size": 32, "num_hidden_layers": 1,
          "intermediate_size": 128, "num_attention_heads": 2},
         {"max_position_embeddings": 2048, "rotary_pct": 0.25, "rotary_emb_base": 10000, "hidden_act": "gelu",
          "use_parallel_residual": true, "attention_bias": true, "layer_norm_eps": 1e-5, "tie_word_embeddings": false}]
    ])json");
    for (const json& row : table) {
        json whole = row[0];
        whole.update(row[1]);
        INFO(whole);
        CHECK(reread(row[0]) == reread(whole));
    }
    json pythia = table.back()[0];
    pythia.update({{"rotary_pct", 0.5}, {"rotary_emb_base", 700}});
    CHECK(reread(pythia).rotary_size() == 8);
    CHECK(reread(pythia).rope_theta == 700);
    for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"}) {
        json j = table[0][0];
        j.erase(key);
        CHECK_THROWS_WITH(reread(j), contains(key, "got nothing"));
    }
}

TEST_CASE("config.json: Gemma 3 as the Hub has it, and inside of a model of pictures", "[models]") {
    // google/gemma-3-4b-it leaves out its class's defaults; older files have both rotary bases side by side
    json text = json::parse(R"({"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
        "num_hidden_layers": 34, "sliding_window": 1024, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}})");
    const json whole = {{"model_type", "gemma3"}, {"text_config", text}, {"eos_token_id", {1, 106}}};
    const Architecture a = reread(whole);  // alone, a file must name its vocabulary
    CHECK(a.family == "gemma3");
    json spelled = text;
    spelled.update(json::parse(R"({"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "max_position_embeddings": 131072, "sliding_window_pattern": 6, "rope_theta": 1e6,
        "rope_local_base_freq": 1e4, "query_pre_attn_scalar": 256, "tie_word_embeddings": true})"));
    CHECK(reread(spelled) == a);
    CHECK(a.rope.factor == 8);
    CHECK(a.window_of(4) == 1024);
    CHECK(a.window_of(5) == 0);
    CHECK(there_and_back(a) == a);
    text["vocab_size"] = 262144, text["rope_local_base_freq"] = 2e4, text["query_pre_attn_scalar"] = 168;
    const Architecture alone = reread(text);
    CHECK(alone.vocab_size == 262144);
    CHECK(alone.local_rope_theta == 2e4);
    CHECK(alone.score_width == 168);
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
    check_changes(text, refusal, R"json([
        [{"/layer_types": ["sliding_attention", "full_attention", "full_attention"]}, "layer_types"],
        [{"/layer_types": ["full_attention"]}, "must hold 3 types, got 1"],
        [{"/attn_logit_softcapping": 50}, "attn_logit_softcapping 50 is not supported: models without a cap are"],
        [{"/use_bidirectional_attention": true}, "use_bidirectional_attention"],
        [{"/model_type": "gemma2"}, "model_type 'gemma2' is not supported"]
    ])json");
    check_changes(whole, refusal, R"json([[{"/model_type": "llava"}, "model_type 'llava' is not supported"]])json");
}

TEST_CASE("config.json: an activation may have any of the names that transformers knows", "[models]") {
    using models::Activation;
    const std::pair<Activation, std::vector<const char*>> kinds[] = {
        {Activation::gelu_tanh, {"gelu_new", "gelu_fast", "gelu_accurate", "gelu_pytorch_tanh", "gelu_python_tanh"}},
        {Activation::gelu_erf, {"gelu", "gelu_python"}},
        {Activation::relu, {"relu"}},
        {Activation::silu, {"silu", "swish"}}};
    for (const auto& [activation, names] : kinds)
        for (const char* name : names) {
            json j = good();
            j["activation_function"] = name;
            CHECK(reread(j).activation == activation);
        }
    for (const char* family : {"llama", "qwen2", "qwen3"})
        check_changes(config_json(shape_of(family, 65, 3, 4, 32, 16, 0, false)), refusal, R"json([
            [{"/hidden_act": "swish"}, ""],
            [{"/hidden_act": "gelu"}, "hidden_act 'gelu' is not supported: silu is"],
            [{"/hidden_act": "mish"}, "hidden_act 'mish' is not supported: silu is"]
        ])json");
}

TEST_CASE("config.json: other kinds, senseless values and what would change the function are refused by name",
          "[models]") {
    check_changes(good(), refusal, R"json([
        [{"/n_inner": 100}, ""],
        [{"/n_inner": 0}, "n_inner"],
        [{"/n_head": 5}, "divisible"],
        [{"/resid_pdrop": 1.0}, "dropout"],
        [{"/resid_pdrop": "much"}, "resid_pdrop"],
        [{"/layer_norm_epsilon": 0}, "layer_norm_epsilon"],
        [{"/bias": 1}, "bias"],
        [{"/model_type": "mamba"}, "model_type 'mamba' is not supported"],
        [{"/model_type": 5}, "model_type must be a text, got 5"],
        [{"/activation_function": "tanh"},
         "activation_function 'tanh' is not supported: gelu_new, gelu, relu and silu are"],
        [{"/tie_word_embeddings": "no"}, "tie_word_embeddings must be true or false"],
        [{"/scale_attn_weights": false}, "scale_attn_weights false is not supported"],
        [{"/add_cross_attention": true}, "add_cross_attention true is not"],
        [{"/scale_attn_by_inverse_layer_idx": 1}, "layer_idx must be true or false"]
    ])json");
    check_changes(config_json(shape_of("gpt-neox", 65, 3, 4, 32, 16, 0, true)), refusal, R"json([
        [{"/attention_bias": false}, "attention_bias false is not supported"],
        [{"/hidden_act": "mish"}, "hidden_act 'mish' is not supported"]
    ])json");
    for (const Architecture& a : {nanochat(), llama()})
        check_changes(config_json(a), refusal, R"json([
            [{"/num_key_value_heads": 4}, ""],
            [{"/num_key_value_heads": 3}, "--n-kv-head, got 4 and 3"],
            [{"/rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}},
             "partial_rotary_factor must be 1"],
            [{"/rope_parameters": {"rope_theta": -1}}, "rope_theta"],
            [{"/intermediate_size": null}, "intermediate_size"],
            [{"/quantization_config": {"bits": 4}}, "quantization_config"]
        ])json");
    check_changes(config_json(nanochat()), refusal, R"json([
        [{"/head_dim": 8}, ""],
        [{"/head_dim": 16}, "head_dim"],
        [{"/hidden_act": "silu"}, "hidden_act 'silu' is not supported: relu2 is"],
        [{"/tie_word_embeddings": true}, "tie_word_embeddings true is not supported: models with false are"],
        [{"/rope_parameters": 3}, "rope_parameters must be an object"],
        [{"/rope_scaling": {"type": "linear"}}, "rope_scaling"],
        [{"/final_logit_softcapping": null}, ""],
        [{"/final_logit_softcapping": 0}, "final_logit_softcapping"],
        [{"/final_logit_softcapping": -15.0}, "final_logit_softcapping"],
        [{"/num_attention_heads": 32}, "even width"]
    ])json");
    check_changes(config_json(llama()), refusal, R"json([
        [{"/head_dim": null}, ""],
        [{"/head_dim": 5}, "even width, got 5"],
        [{"/head_dim": 0}, "head_dim must be a whole number"],
        [{"/pretraining_tp": 1}, ""],
        [{"/rope_parameters": {"rope_type": "yarn", "rope_theta": 5e5, "factor": 2}},
         "rope_type 'yarn' is not supported: default, linear and llama3 are"],
        [{"/rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5}}, "factor must be above 0, got nothing"],
        [{"/rope_parameters": {"rope_type": "linear", "factor": -1}}, "factor must be above 0, got -1"],
        [{"/rope_parameters": {"rope_type": "linear", "factor": 0.5}}, "factor of rotary positions"],
        [{"/rope_parameters": {"rope_type": "llama3", "factor": 2, "low_freq_factor": 4, "high_freq_factor": 1}},
         "high_freq_factor above a low_freq_factor above 0, got 1 and 4"],
        [{"/rope_scaling": {"type": "dynamic", "factor": 2}}, "rope_scaling"],
        [{"/rms_norm_eps": 0}, "rms_norm_eps must be above 0"],
        [{"/attention_bias": "yes"}, "attention_bias must be true or false"],
        [{"/mlp_bias": 1}, "mlp_bias must be true or false"]
    ])json");
    for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"}) {
        for (const json& value :
             {json(0), json(-1), json(1.5), json("4"), json(nullptr), json(1ull << 31), json(~0ull)}) {
            json j = good();
            j[key] = value;
            INFO(key << " = " << value.dump());
            CHECK_THAT(refusal(j), contains(key));
        }
    }
    for (const char* key : {"model_type", "activation_function", "n_layer", "bias", "resid_pdrop"}) {
        for (const json& value : {json("a\nb\x1b[31m" + std::string(100000, 'x')), json(std::vector<int>(100000, 1))}) {
            json j = good();
            j[key] = value;
            CHECK_FALSE(refusal(j).empty());
        }
    }
    for (const json& j : {json::array(), json(3), json(nullptr), json("gpt2")})
        CHECK_THROWS_AS(read_config(j, "c"), BadInput);
}

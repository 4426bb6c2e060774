// What a config.json must not hold, in one line.
#include "tests/models/families/config_json.h"

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

TEST_CASE("config.json: other kinds, senseless values and other functions are refused by name", "[models]") {
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

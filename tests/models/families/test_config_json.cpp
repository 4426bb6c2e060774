// config.json of every family: writing and reading, and keys that are left out.
#include "tests/models/families/config_json.h"

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
    for (const Architecture& a : all) WITH_INFO(config_json(a).dump(), CHECK(there_and_back(a) == a));
}

TEST_CASE("config.json: Mistral is a Llama that may have a window, Qwen's heads are 128 wide", "[models]") {
    json j = config_json(llama());
    j["model_type"] = "mistral";
    j["sliding_window"] = nullptr;
    CHECK(reread(j) == llama());
    j["sliding_window"] = 16;
    CHECK(reread(j) == llama());
    j["sliding_window"] = 15;
    CHECK_ALL(reread(j).window == 15, there_and_back(reread(j)) == reread(j));
    j.erase("sliding_window");  // 4096
    CHECK(reread(j) == llama());
    j["max_position_embeddings"] = 8192;
    CHECK(reread(j).window == 4096);
    for (const char* family : {"qwen2", "qwen3"}) {
        json q = config_json(shape_of(family, 65, 3, 4, 32, 16, 0, false));
        q["sliding_window"] = 4;
        CHECK(reread(q).block_size == 16);  // not used; else in layers from max_window_layers, 28, on
        check_changes(q, refusal, config_changes("qwen window"));
        q.erase("head_dim");
        CHECK(reread(q).head_size() == (std::string(family) == "qwen3" ? 128 : 8));
    }
}

TEST_CASE("config.json: older names of the angles, and whether texts begin after an end of text", "[models]") {
    json old = config_json(llama());
    old.erase("rope_parameters");
    old["rope_theta"] = 20;
    old["rope_scaling"] = {{"type", "linear"}, {"factor", 3}};
    CHECK_ALL(reread(old).rope_theta == 20, reread(old).rope.factor == 3);
    old["rope_scaling"] = json::parse(R"({"rope_type": "llama3", "factor": 32, "low_freq_factor": 1,
        "high_freq_factor": 4, "original_max_position_embeddings": 8192})");
    const models::RopeOptions want{models::RopeScaling::llama3, 32, 1, 4, 8192};
    CHECK_ALL(reread(old).rope == want, reread(old).rope_theta == 20);
    for (json j : {config_json(nanochat()), config_json(llama())}) {
        j.erase("rope_parameters");
        j["rope_theta"] = 500.0;  // before transformers 5
        j["rope_scaling"] = nullptr;
        CHECK(reread(j).rope_theta == 500);
        j["rope_parameters"] = {{"rope_theta", 700.0}};
        CHECK(reread(j).rope_theta == 700);
    }
    for (Architecture config : {models::family("gpt2").defaults(true), nanochat()}) {
        for (const bool has : {true, false}) {
            config.has_bos = has;
            const json j = config_json(config, 7);
            CHECK_ALL(j["eos_token_id"] == 7, j["bos_token_id"] == (has ? json(7) : json(nullptr)));
            CHECK(there_and_back(config, 7) == config);
        }
        CHECK(there_and_back(config).has_bos);  // there is no such token
    }
}

TEST_CASE("config.json: what is left out has the value of transformers' class", "[models]") {
    // the least of a file, and what it need not have
    const auto table = config_changes("left out");
    for (const json& row : table) {
        json whole = row[0];
        whole.update(row[1]);
        INFO(whole);
        CHECK(reread(row[0]) == reread(whole));
    }
    json pythia = table.back()[0];
    pythia.update({{"rotary_pct", 0.5}, {"rotary_emb_base", 700}});
    CHECK_ALL(reread(pythia).rotary_size() == 8, reread(pythia).rope_theta == 700);
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
    CHECK_ALL(reread(spelled) == a, a.rope.factor == 8, a.window_of(4) == 1024, a.window_of(5) == 0);
    CHECK(there_and_back(a) == a);
    text["vocab_size"] = 262144, text["rope_local_base_freq"] = 2e4, text["query_pre_attn_scalar"] = 168;
    const Architecture alone = reread(text);
    CHECK_ALL(alone.vocab_size == 262144, alone.local_rope_theta == 2e4, alone.score_width == 168);
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
    check_changes(text, refusal, config_changes("gemma3"));
    check_changes(whole, refusal, config_changes("of pictures"));
}

// What a config.json must not hold, in one line.
#include "tests/models/families/config_json.h"

TEST_CASE("config.json: names of activations, and what is refused by name", "[models]") {
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
        check_changes(config_json(shape_of(family, 65, 3, 4, 32, 16, 0, false)), refusal, config_changes("activation"));
    check_changes(good(), refusal, config_changes("gpt2"));
    check_changes(config_json(shape_of("gpt-neox", 65, 3, 4, 32, 16, 0, true)), refusal, config_changes("gpt_neox"));
    for (const Architecture& a : {nanochat(), llama()})
        check_changes(config_json(a), refusal, config_changes("nanochat and llama"));
    check_changes(config_json(nanochat()), refusal, config_changes("nanochat"));
    check_changes(config_json(llama()), refusal, config_changes("llama"));
    for (const char* key : {"vocab_size", "n_layer", "n_head", "n_embd", "n_positions"})
        for (const json& value :
             {json(0), json(-1), json(1.5), json("4"), json(nullptr), json(1ull << 31), json(~0ull)}) {
            json j = good();
            j[key] = value;
            INFO(key << " = " << value.dump());
            CHECK_THAT(refusal(j), contains(key));
        }
    for (const char* key : {"model_type", "activation_function", "n_layer", "bias", "resid_pdrop"})
        for (const json& value : {json("a\nb\x1b[31m" + std::string(100000, 'x')), json(std::vector<int>(100000, 1))}) {
            json j = good();
            j[key] = value;
            CHECK_FALSE(refusal(j).empty());
        }
    for (const json& j : {json::array(), json(3), json(nullptr), json("gpt2")})
        CHECK_THROWS_AS(read_config(j, "c"), BadInput);
}

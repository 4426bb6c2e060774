#include "models/gpt_config.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/check.h"

namespace inkling::models {

using nlohmann::json;

void GPTConfig::validate() const {
    constexpr std::size_t most = std::size_t{1} << 30;
    const auto in_range = [](const char* flag, std::size_t value) {
        check(value >= 1 && value <= most, "{} must be at least 1, got {}", flag, static_cast<std::int64_t>(value));
    };
    in_range("--n-layer", n_layer);
    in_range("--n-head", n_head);
    in_range("--n-embd", n_embd);
    in_range("--block-size", block_size);
    in_range("the vocabulary", vocab_size);
    check(n_embd % n_head == 0, "--n-embd must be divisible by --n-head, got {} and {}: change one of them", n_embd,
          n_head);
    check(dropout >= 0 && dropout < 1, "--dropout must be at least 0 and below 1, got {}", dropout);
    check(layer_norm_epsilon > 0, "layer_norm_epsilon must be above 0, got {}", layer_norm_epsilon);
}

std::size_t GPTConfig::parameter_count() const {
    using Wide = unsigned __int128;  // sizes of up to 2^30 each, which a lying config.json may have, take 95 bits
    const Wide C = n_embd, b = bias;
    const Wide block = 12 * C * C + 2 * C + b * (11 * C);  // 4 C^2 attention, 8 C^2 mlp, two norms
    const Wide all = (Wide{vocab_size} + block_size) * C + n_layer * block + C + b * C;
    return static_cast<std::size_t>(std::min<Wide>(all, std::numeric_limits<std::size_t>::max()));
}

json GPTConfig::to_json(std::int64_t end_of_text) const {
    const json eot = end_of_text < 0 ? json(nullptr) : json(end_of_text);
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"activation_function", "gelu_new"},
            {"attn_pdrop", dropout},
            {"embd_pdrop", dropout},
            {"resid_pdrop", dropout},
            {"bias", bias},  // ours: without biases, those of the file are zeros
            {"bos_token_id", eot},
            {"eos_token_id", eot},
            {"initializer_range", 0.02},
            {"layer_norm_epsilon", layer_norm_epsilon},
            {"n_ctx", block_size},
            {"n_embd", n_embd},
            {"n_head", n_head},
            {"n_inner", nullptr},
            {"n_layer", n_layer},
            {"n_positions", block_size},
            {"tie_word_embeddings", true},
            {"torch_dtype", "float32"},
            {"use_cache", true},
            {"vocab_size", vocab_size}};
}

GPTConfig GPTConfig::from_json(const json& j, const std::string& what) {
    check<BadInput>(j.is_object(), "{}: a JSON object is required", what);
    const auto text = [&](const char* key, const std::string& otherwise) {
        const auto found = j.find(key);
        return found != j.end() && found->is_string() ? found->get<std::string>() : otherwise;
    };
    const auto size = [&](const char* key) {
        const auto found = j.find(key);
        check<BadInput>(found != j.end() && found->is_number_unsigned() && found->get<std::uint64_t>() >= 1 &&
                            found->get<std::uint64_t>() <= (1u << 30),
                        "{}: {} must be a whole number of at least 1, got {}", what, key,
                        found == j.end() ? "nothing" : found->dump());
        return found->get<std::size_t>();
    };
    const auto number = [&](const char* key, double otherwise) {
        const auto found = j.find(key);
        if (found == j.end() || found->is_null()) return otherwise;
        check<BadInput>(found->is_number(), "{}: {} must be a number, got {}", what, key, found->dump());
        return found->get<double>();
    };
    const auto flag = [&](const char* key, bool otherwise) {
        const auto found = j.find(key);
        if (found == j.end() || found->is_null()) return otherwise;
        check<BadInput>(found->is_boolean(), "{}: {} must be true or false, got {}", what, key, found->dump());
        return found->get<bool>();
    };
    const std::string type = text("model_type", "none");
    check<BadInput>(type == "gpt2", "{}: model_type '{}' is not supported: gpt2 is", what, type);
    const std::string activation = text("activation_function", "gelu_new");
    check<BadInput>(activation == "gelu_new" || activation == "gelu_pytorch_tanh",
                    "{}: activation_function '{}' is not supported: gelu_new is", what, activation);
    check<BadInput>(flag("scale_attn_weights", true) && !flag("scale_attn_by_inverse_layer_idx", false) &&
                        !flag("add_cross_attention", false) && flag("tie_word_embeddings", true),
                    "{}: only plain GPT-2 is supported: scaled attention without cross attention, and a tied head",
                    what);
    GPTConfig config;
    config.vocab_size = size("vocab_size");
    config.n_layer = size("n_layer");
    config.n_head = size("n_head");
    config.n_embd = size("n_embd");
    config.block_size = size("n_positions");
    config.dropout = number("resid_pdrop", 0.1);
    config.layer_norm_epsilon = number("layer_norm_epsilon", 1e-5);
    config.bias = flag("bias", true);
    const auto inner = j.find("n_inner");
    check<BadInput>(inner == j.end() || inner->is_null() || *inner == json(4 * config.n_embd),
                    "{}: n_inner must be 4 n_embd, got {}", what, inner == j.end() ? "nothing" : inner->dump());
    try {
        config.validate();
    } catch (const Error& e) {
        throw BadInput(fmt::format("{}: {}", what, e.what()));
    }
    return config;
}

}  // namespace inkling::models

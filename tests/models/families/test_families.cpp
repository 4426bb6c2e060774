// Every class and variant that can be imported: transformers' numbers from transformers' own folders, 12 training steps
// of PyTorch, and the folders written back (tests/reference/make_families.py).
#include "models/files/weight_files.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"

// The reference folders. Those with 12 steps of training have "training" in their expected.json.
static std::vector<fs::path> folders() {
    std::vector<fs::path> all = {kGpt2Tiny, kNanoChatTiny, kLlamaTiny, kLlamaTinyTied};
    for (const auto& entry : fs::directory_iterator(tests_path("reference/families"))) all.push_back(entry.path());
    REQUIRE(all.size() == 4 + 15);
    return all;
}

static json numbers_of(const fs::path& folder) { return json::parse(read_file(folder / "expected.json")); }

static std::map<std::string, std::vector<float>> values_of(const fs::path& folder) {
    const auto file = WeightFiles::open(folder);
    std::map<std::string, std::vector<float>> all;
    for (const auto& [name, tensor] : file.tensors()) {
        all[name].resize(tensor.count);
        tensor.read(all[name].data(), tensor.count);
    }
    return all;
}

// Keys of config.json that change the function.
constexpr const char* kKept =
    "hidden_size|intermediate_size|num_key_value_heads|head_dim|rms_norm_eps|rope_parameters|tie_word_embeddings|"
    "attention_bias|mlp_bias|n_inner|activation_function|scale_attn_by_inverse_layer_idx|use_parallel_residual|"
    "hidden_act|hidden_activation|query_pre_attn_scalar|layer_norm_eps|layer_norm_epsilon|max_position_embeddings|"
    "n_positions|final_logit_softcapping|vocab_size";

TEST_CASE("families: transformers' logits, loss, gradients and greedy text come out of its own folders", "[models]") {
    for (const auto& folder : folders()) {
        INFO(folder.filename().string());
        const auto numbers = numbers_of(folder);
        const auto [model, tokenizer] = load_model(folder);
        CHECK_FALSE(model->training());
        check_logits(*model, numbers, "logits", folder == kGpt2Tiny ? 1e-5 : 5e-5);
        check_loss_and_text(*model, *tokenizer, numbers);
        if (numbers.contains("gradient_norms")) CHECK(numbers["gradient_norms"].size() == model->parameters().size());
        if (numbers.contains("uncapped")) {
            model->config.softcap = 0;
            check_logits(*model, numbers, "uncapped", 5e-5);
            model->config.softcap = 15;
        }
        if (numbers.contains("training")) continue;
        const WithPrecision scope(Precision::bf16);
        check_logits(*model, numbers, "logits", 0.5);
    }
}

TEST_CASE("families: greedy texts of models trained here are transformers', 12 steps of AdamW PyTorch's", "[models]") {
    const auto expected = reference("greedy.json");
    for (const std::string arch : {"gpt2", "nanochat", "llama"}) {
        const auto [model, tokenizer] = load_model(tests_path("reference/greedy_" + arch));
        for (const auto& text : expected[arch]) {
            const auto ids = text["ids"].get<std::vector<std::int32_t>>();
            const auto prompt = tokenizer->encode(text["prompt"].get<std::string>());
            INFO(arch << ", transformers: " << text["text"].get<std::string>());
            CHECK(tokenizer->decode(greedy_text(*model, prompt, ids.size(), tokenizer.get())) ==
                  tokenizer->decode(ids));
        }
    }
    for (const auto& folder : folders()) {
        INFO(folder.filename().string());
        const auto numbers = numbers_of(folder);
        if (!numbers.contains("training")) continue;
        const auto [model, tokenizer] = load_model(folder);
        check_training(*model, numbers["encoded"], numbers["training"], 1e-3);
    }
}

TEST_CASE("families: saving what transformers wrote keeps every weight and every key of its config", "[models]") {
    for (const auto& folder : folders()) {
        INFO(folder.filename().string());
        auto [model, tokenizer] = load_model(folder);
        const ScratchFolder copy;
        save_model(copy.path(), *model, *tokenizer);
        const auto theirs = values_of(folder), ours = values_of(copy.path());
        REQUIRE(ours.size() == theirs.size());
        for (const auto& [name, values] : theirs) {
            INFO(name);
            const bool head = name == "lm_head.weight" && !ours.contains(name);  // GPT-NeoX's has two names
            REQUIRE(ours.contains(head ? "embed_out.weight" : name));
            CHECK(ours.at(head ? "embed_out.weight" : name) == values);
        }
        CHECK(load_config(copy.path()) == model->config);
        const auto before = json::parse(read_file(folder / "config.json")),
                   after = json::parse(read_file(copy.path("config.json")));
        // a Mistral without a window is a Llama, and is written as one
        const bool mistral = before["model_type"] == "mistral" && model->config.window == 0;
        if (mistral) check_holds(after, "model_type", "llama", "/architectures/0", "LlamaForCausalLM");
        std::set<std::string> keys;
        if (!mistral) keys = {"model_type", "architectures"};
        for (const auto& [key, value] : before.items())
            if (std::regex_match(key, std::regex(kKept))) keys.insert(key);
        if (model->config.window > 0) keys.insert({"sliding_window", "layer_types"});
        for (const std::string& key : keys) {
            INFO(key);
            if (before.contains(key)) CHECK(after.value(key, json()) == before[key]);
        }
    }
}

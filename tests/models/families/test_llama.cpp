// Llama: its parameters, and transformers' numbers from transformers' own folders.
#include "engine/base/precision.h"
#include "engine/ops.h"
#include "models/files/folder.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"

using namespace inkling;
using namespace inkling::testing;
using models::Architecture;
using models::Transformer;

namespace {

const std::string kLayer = "model.layers.0.";

std::vector<std::string> names_of(const Architecture& a) {
    Transformer<float> model(a);
    std::vector<std::string> names;
    for (const auto& [name, p] : model.parameters()) names.push_back(name);
    return names;
}

}  // namespace

TEST_CASE("llama: parameters have transformers' names, and are as many as those of known models", "[models]") {
    Architecture a = llama_shape(11, 1, 4, 2, 16, 8);
    const std::vector<std::string> untied = {"model.embed_tokens.weight",
                                             kLayer + "input_layernorm.weight",
                                             kLayer + "self_attn.q_proj.weight",
                                             kLayer + "self_attn.k_proj.weight",
                                             kLayer + "self_attn.v_proj.weight",
                                             kLayer + "self_attn.o_proj.weight",
                                             kLayer + "post_attention_layernorm.weight",
                                             kLayer + "mlp.gate_proj.weight",
                                             kLayer + "mlp.up_proj.weight",
                                             kLayer + "mlp.down_proj.weight",
                                             "model.norm.weight",
                                             "lm_head.weight"};
    CHECK(names_of(a) == untied);
    a.tied_head = true;
    CHECK(names_of(a) == std::vector<std::string>(untied.begin(), untied.end() - 1));
    for (const std::size_t head_dim : {0, 10}) {
        for (const bool bias : {false, true}) {
            a = llama_shape(13, 3, 4, 2, 24, 7, 0.0, bias);
            a.n_inner = 50, a.head_dim = head_dim;
            CHECK(Transformer<float>(a).parameter_count() == models::parameter_count(a));
            const std::vector<std::string> names = names_of(a);
            const auto biases =
                std::count_if(names.begin(), names.end(), [](const auto& n) { return n.ends_with("bias"); });
            CHECK(biases == (bias ? 3 * 7 : 0));
        }
    }
    Architecture tiny_llama = llama_shape(32000, 22, 32, 4, 2048, 2048);
    tiny_llama.n_inner = 5632;
    CHECK(models::parameter_count(tiny_llama) == 1'100'048'384);
    Architecture smollm2 = llama_shape(49152, 30, 9, 3, 576, 8192);  // SmolLM2-135M
    smollm2.n_inner = 1536, smollm2.tied_head = true;
    CHECK(models::parameter_count(smollm2) == 134'515'008);
    Architecture llama2 = llama_shape(32000, 32, 32, 32, 4096, 4096);  // Llama-2-7b
    llama2.n_inner = 11008;
    CHECK(models::parameter_count(llama2) == 6'738'415'616);
}

TEST_CASE("llama: shapes that do not fit are refused", "[models]") {
    CHECK_THROWS_WITH(Transformer<float>(llama_shape(11, 2, 4, 3, 16, 8)),
                      ContainsSubstring("--n-kv-head, got 4 and 3"));
    CHECK_THROWS_WITH(Transformer<float>(llama_shape(11, 2, 4, 2, 12, 8)), ContainsSubstring("even width, got 3"));
    Architecture a = llama_shape(11, 2, 4, 2, 16, 8);
    a.head_dim = 5;
    CHECK_THROWS_WITH(Transformer<float>(a), ContainsSubstring("even width, got 5"));
}

TEST_CASE("llama: transformers' logits, loss, gradients and greedy text come out of its own folders", "[models]") {
    for (const auto& [path, tied] : {std::pair{kLlamaTiny, false}, {kLlamaTinyTied, true}}) {
        INFO(path.string());
        const auto numbers = reference(path.filename().string() + "/expected.json");
        auto [model, tokenizer] = models::load_model(path);
        const Architecture& a = model->config;
        CHECK((a.kv_heads() == 2 && a.inner() == 40 && a.rope_theta == 500 && a.tied_head == tied));
        CHECK((a.head_size() == (tied ? 8 : 6) && a.qkv_bias == tied && a.attention_bias == tied && !a.mlp_bias));
        CHECK(model->parameter_count() == (tied ? 11'168 : 10'344));
        CHECK(numbers["gradient_norms"].size() == model->parameters().size());
        check_logits(*model, numbers, "logits", 5e-5);  // of up to 16, whose last bit is 1e-6
        check_loss_and_text(*model, *tokenizer, numbers);
        const WithPrecision scope(Precision::bf16);
        check_logits(*model, numbers, "logits", 0.5);
    }
}

TEST_CASE("llama: saving what transformers wrote keeps every weight, and its config", "[models]") {
    for (const auto& path : {kLlamaTiny, kLlamaTinyTied}) {
        INFO(path.string());
        auto [model, tokenizer] = models::load_model(path);
        const data::tests::ScratchFolder copy;
        models::save_model(copy.path(), *model, *tokenizer);
        check_same_tensors(path / "model.safetensors", copy.path("model.safetensors"));
        CHECK(models::load_config(copy.path()) == model->config);
        const auto before = nlohmann::json::parse(formats::read_file(path / "config.json")),
                   after = nlohmann::json::parse(formats::read_file(copy.path("config.json")));
        for (const auto& [key, value] : before.items()) {
            INFO(key);
            if (key == "transformers_version" || key == "pretraining_tp" || key == "dtype" || key == "pad_token_id")
                continue;  // of the program that writes it
            CHECK(after.value(key, nlohmann::json()) == value);
        }
    }
}

TEST_CASE("llama: weights without their prefix are read", "[models]") {
    const data::tests::ScratchFolder folder;
    for (const auto& entry : std::filesystem::directory_iterator(kLlamaTinyTied))
        std::filesystem::copy(entry.path(), folder.path());
    StoredTensors bare;  // as LlamaModel writes them
    for (const auto& [name, tensor] : read_tensors(folder.path("model.safetensors")))
        bare[name.substr(std::string("model.").size())] = tensor;
    write_tensors(folder.path("model.safetensors"), bare);
    const IdArray ids = random_ids({1, 12}, 21, 1);
    CHECK(same_bits(models::load_model(folder.path()).model->forward(ids).value(),
                    models::load_model(kLlamaTinyTied).model->forward(ids).value()));
}

TEST_CASE("llama: a copy of a tied head and buffers of old files are read, another head is refused", "[models]") {
    const data::tests::ScratchFolder folder;
    for (const auto& entry : std::filesystem::directory_iterator(kLlamaTinyTied))
        std::filesystem::copy(entry.path(), folder.path());
    const auto change = [&](const auto& f) { change_tensors(folder.path("model.safetensors"), f); };
    change([](StoredTensors& t) {
        t["lm_head.weight"] = t.at("model.embed_tokens.weight");
        t[kLayer + "self_attn.rotary_emb.inv_freq"] = {{4}, {1, 2, 3, 4}};
    });
    const IdArray ids = random_ids({1, 12}, 21, 1);
    CHECK(same_bits(models::load_model(folder.path()).model->forward(ids).value(),
                    models::load_model(kLlamaTinyTied).model->forward(ids).value()));
    change([](StoredTensors& t) { t["lm_head.weight"].values[0] += 1; });
    CHECK_THROWS_WITH(models::load_model(folder.path()),
                      ContainsSubstring("lm_head.weight differs from the token table"));
    change([](StoredTensors& t) {
        t.erase("lm_head.weight");
        t.erase(kLayer + "mlp.gate_proj.weight");
        t[kLayer + "mlp.gate_proj.bias"] = {{2000}, std::vector<float>(2000)};
        t[kLayer + "self_attn.k_proj.weight"].shape = {24, 16};
    });
    CHECK_THROWS_WITH(models::load_model(folder.path()),
                      ContainsSubstring(kLayer + "mlp.gate_proj.weight is missing") &&
                          ContainsSubstring("gate_proj.bias is not known") &&
                          ContainsSubstring("k_proj.weight has shape (24, 16) where config.json wants (16, 24)"));
}

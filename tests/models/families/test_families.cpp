// Every class and variant that comes in: transformers' numbers from transformers' own folders, 12 steps of PyTorch's,
// and the folders written back (tests/reference/make_families.py).
#include "models/files/folder.h"
#include "models/files/weight_files.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"
#include "train/optimizers/optimizer.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

std::vector<std::filesystem::path> folders() {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(tests_path("reference/families")))
        all.push_back(entry.path());
    REQUIRE(all.size() == 15);
    return all;
}

nlohmann::json numbers_of(const std::filesystem::path& folder) {
    return nlohmann::json::parse(formats::read_file(folder / "expected.json"));
}

std::map<std::string, std::vector<float>> values_of(const std::filesystem::path& folder) {
    const auto file = models::WeightFiles::open(folder);
    std::map<std::string, std::vector<float>> all;
    file.each([&](const models::WeightInfo& info) {
        all[info.name].resize(info.count);
        file.read(info.name, all[info.name].data(), info.count);
    });
    return all;
}

}  // namespace

TEST_CASE("families: transformers' logits, loss, gradients and greedy text come out of its own folders", "[models]") {
    for (const auto& folder : folders()) {
        INFO(folder.filename().string());
        const auto numbers = numbers_of(folder);
        const auto [model, tokenizer] = models::load_model(folder);
        check_logits(*model, numbers, "logits", 5e-5);
        check_loss_and_text(*model, *tokenizer, numbers);
        const auto ids = numbers["encoded"].get<std::vector<std::int32_t>>();
        IdArray from({1, ids.size() - 1}), to({1, ids.size() - 1});
        std::copy_n(ids.data(), from.size(), from.data());
        std::copy_n(ids.data() + 1, to.size(), to.data());
        CHECK(static_cast<double>(model->loss(from, to).item()) ==
              Approx(numbers["loss"].get<double>()).epsilon(1e-6).margin(0));
    }
}

TEST_CASE("families: 12 steps of AdamW follow PyTorch's", "[models]") {
    for (const auto& folder : folders()) {
        INFO(folder.filename().string());
        const auto numbers = numbers_of(folder);
        const auto [model, tokenizer] = models::load_model(folder);
        const auto ids = numbers["encoded"].get<std::vector<std::int32_t>>();
        IdArray from({1, ids.size() - 1}), to({1, ids.size() - 1});
        std::copy_n(ids.data(), from.size(), from.data());
        std::copy_n(ids.data() + 1, to.size(), to.data());
        nn::FlatParameters<float> flat(*model);
        const auto optimizer = train::make_optimizer(train::TrainOptions{}, flat);
        for (const double want : numbers["training"].get<std::vector<double>>()) {
            const Tensor<float> loss = model->loss(from, to);
            CHECK(static_cast<double>(loss.item()) == Approx(want).epsilon(1e-4).margin(0));
            model->zero_grad();
            backward(loss);
            optimizer->step(1e-3);
        }
    }
}

TEST_CASE("families: saving what transformers wrote keeps every weight and every key of its config", "[models]") {
    for (const auto& folder : folders()) {
        INFO(folder.filename().string());
        auto [model, tokenizer] = models::load_model(folder);
        const data::tests::ScratchFolder copy;
        models::save_model(copy.path(), *model, *tokenizer);
        const auto theirs = values_of(folder), ours = values_of(copy.path());
        REQUIRE(ours.size() == theirs.size());
        for (const auto& [name, values] : theirs) {
            INFO(name);
            const bool head = name == "lm_head.weight" && !ours.contains(name);  // GPT-NeoX's has two names
            REQUIRE(ours.contains(head ? "embed_out.weight" : name));
            CHECK(ours.at(head ? "embed_out.weight" : name) == values);
        }
        CHECK(models::load_config(copy.path()) == model->config);
        const auto before = nlohmann::json::parse(formats::read_file(folder / "config.json")),
                   after = nlohmann::json::parse(formats::read_file(copy.path("config.json")));
        // without a window it is written as the Llama that it is
        const bool mistral = before["model_type"] == "mistral" && model->config.window == 0;
        CHECK(after["model_type"] == (mistral ? nlohmann::json("llama") : before["model_type"]));
        std::vector<std::string> keys = {"hidden_size",
                                         "intermediate_size",
                                         "num_key_value_heads",
                                         "head_dim",
                                         "rms_norm_eps",
                                         "rope_parameters",
                                         "tie_word_embeddings",
                                         "attention_bias",
                                         "mlp_bias",
                                         "n_inner",
                                         "activation_function",
                                         "scale_attn_by_inverse_layer_idx",
                                         "use_parallel_residual",
                                         "hidden_act",
                                         "hidden_activation",
                                         "query_pre_attn_scalar",
                                         "layer_norm_eps",
                                         "layer_norm_epsilon",
                                         "max_position_embeddings"};
        if (model->config.window > 0) keys.insert(keys.end(), {"sliding_window", "layer_types"});
        for (const std::string& key : keys) {
            INFO(key);
            if (before.contains(key)) CHECK(after.value(key, nlohmann::json()) == before[key]);
        }
    }
}

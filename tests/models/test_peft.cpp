// Low-rank adapters against PEFT's numbers (tests/reference/make_adapters.py): logits, 15 training steps, files.
#include "models/files/adapter_folder.h"

#include "models/files/adapter_config.h"
#include "models/inference/inference_model.h"
#include "tests/models/peft_folders.h"
#include "tests/models/transformers.h"

static std::vector<fs::path> peft_folders() {
    std::vector<fs::path> all;
    for (const char* name : {"llama", "qwen3", "gpt2", "gpt_neox", "llama_head", "patterns", "patterns_gpt2"})
        all.push_back(tests_path("reference/adapters") + ("/" + std::string(name)));
    return all;
}

TEST_CASE("adapters: PEFT's logits, beside the weights and merged, and 15 steps of AdamW", "[models]") {
    for (const fs::path& folder : peft_folders()) {
        INFO(folder.filename().string());
        const auto numbers = peft_numbers(folder);
        const auto [model, tokenizer] = models::load_model(folder);
        CHECK(model->adapter.rank > 0);
        check_logits(*model, numbers, "logits", 5e-5);
        const auto row = numbers["ids"][0].get<std::vector<std::int32_t>>();
        const auto read = [&, &m = *model] {
            const models::InferenceModel inference(m);
            models::KvCache cache(m.config), by_one(m.config);
            std::vector<float> z(m.config.vocab_size), last(z.size());
            inference.prefill(cache, row, z);
            for (const std::int32_t token : row) {
                models::KvCache* const one = &by_one;
                inference.step(std::span(&one, 1), std::span(&token, 1), last);
            }
            check_last_logits(z, numbers, row.size()), check_last_logits(last, numbers, row.size());
        };
        read();
        model->merge_adapters();
        CHECK_ALL(model->adapter.rank == 0, model->parameter_count() == models::parameter_count(model->config));
        check_logits(*model, numbers, "merged", 5e-5);
        read();
    }
    for (const fs::path& folder : peft_folders()) {
        INFO(folder.filename().string());
        const auto numbers = peft_numbers(folder);
        const auto loaded = models::load_model(folder);
        REQUIRE(numbers["training"].size() == 15);
        const auto flat = check_training(*loaded.model, numbers["batch"], numbers["training"], 1e-2);
        REQUIRE(flat.entries().size() == numbers["norms"].size());
        for (const auto& entry : flat.entries()) {
            INFO(entry.name);
            double squares = 0;
            for (const float x : entry.parameter.value()) squares += static_cast<double>(x) * static_cast<double>(x);
            CHECK(std::sqrt(squares) == Approx(numbers["norms"].at(entry.name).get<double>()).epsilon(1e-4));
        }
    }
}

TEST_CASE("adapters: a saved adapter equals PEFT's, and names the same layers", "[models]") {
    for (const fs::path& folder : peft_folders()) {
        INFO(folder.filename().string());
        const auto loaded = models::load_model(folder);
        const ScratchFolder copy;
        models::save_adapter(copy.path(), *loaded.model, *loaded.tokenizer);
        check_same_tensors(folder / "adapter_model.safetensors", copy.path("adapter_model.safetensors"));
        const auto before = nlohmann::json::parse(formats::read_file(folder / "adapter_config.json")),
                   after = nlohmann::json::parse(formats::read_file(copy.path("adapter_config.json")));
        for (const char* key : {"peft_type", "task_type", "r", "lora_alpha", "lora_dropout", "use_rslora", "bias",
                                "fan_in_fan_out", "inference_mode", "modules_to_save", "base_model_name_or_path"})
            WITH_INFO(key, CHECK(after.at(key) == before.at(key)));
        // PEFT adapts a layer if a name equals its name or the part of it after a dot
        const auto meant = [](const nlohmann::json& names, const std::string& layer) {
            return std::any_of(names.begin(), names.end(),
                               [&](const std::string& name) { return layer == name || layer.ends_with("." + name); });
        };
        for (const ParameterSpec& p : models::parameters(loaded.model->config)) {
            if (p.slot != models::Slot::weight || p.shape.size() != 2) continue;
            const std::string layer = models::family(loaded.model->config.family).layer_of(p);
            INFO(layer);
            CHECK(meant(after.at("target_modules"), layer) == loaded.model->has_adapter(p));
        }
        CHECK(formats::is_there(copy.path("tokenizer.json")));
    }
}

TEST_CASE("adapters: layers may have another rank and alpha, as PEFT's patterns say", "[models]") {
    const ScratchFolder scratch;
    const std::string config =
        scratch.write("adapter_config.json", R"({"rank_pattern": {"q_proj|z": 2, "layers\\.0\\..*": 5,
        "k_proj": 9, "1.up": 7}, "alpha_pattern": {"up": 1.5}})");  // the first that matches, not the first in order
    const models::AdapterPatterns patterns(config, {.rank = 4, .alpha = 8});
    const std::tuple<const char*, std::size_t, double> layers[] = {
        {"layers.0.q_proj", 2, 8},  {"layers.0.k_proj", 5, 8},   {"layers.1.k_proj", 9, 8}, {"k_proj", 9, 8},
        {"layers.1.xk_proj", 4, 8}, {"layers.1.k_proj.x", 4, 8}, {"layers.1.up", 7, 1.5},   {"layers.11.up", 4, 1.5}};
    for (const auto& [layer, rank, alpha] : layers)
        WITH_INFO(layer, CHECK_ALL(patterns.of(layer).rank == rank, patterns.of(layer).alpha == alpha));
    for (const char* const name :
         {"patterns", "patterns_gpt2"}) {  // saved by the whole names of layers, and read again
        INFO(name);
        const AdapterCopy copy(name);
        const auto loaded = models::load_model(copy.folder);
        std::uint64_t elements = 0;
        for (const auto& [tensor, stored] : read_tensors(copy.folder / "adapter_model.safetensors"))
            elements += stored.values.size();
        CHECK(loaded.model->adapter_count() == elements);
        const ScratchFolder saved;
        models::save_adapter(saved.path(), *loaded.model, *loaded.tokenizer);
        const auto numbers = peft_numbers(copy.folder);
        const auto again = models::load_model(saved.path());
        check_logits(*again.model, numbers, "logits", 5e-5);
        Transformer<float> shared(again.model->config, std::nullopt);
        shared.share(*models::load_model(models::base_of_adapter(copy.folder)).model);
        shared.share_adapters(*again.model);
        shared.eval();
        check_logits(shared, numbers, "logits", 5e-5);
    }
}

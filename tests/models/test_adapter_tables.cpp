// Adapters of the token table and the head, beside which PEFT writes the tables' own weights, and names that contain
// the adapter's name: the logits are PEFT's, and errors name what cannot be read.
#include "models/files/adapter_folder.h"
#include "models/files/gguf/gguf_export.h"
#include "models/inference/inference_model.h"
#include "tests/models/peft_folders.h"
#include "tests/models/transformers.h"

TEST_CASE("adapters of tables: PEFT's logits come out, and the base's own weights are the model's", "[models]") {
    for (const std::string name : {"tables", "tied_tables", "tied_table"}) {
        const AdapterCopy copy(name);
        const auto numbers = peft_numbers(copy.folder);
        const bool tied = name != "tables";
        for (const bool inference : {false, true}) {
            INFO(name);
            const auto [model, tokenizer] = load_model(copy.folder, std::nullopt, {WeightType::fp32, inference});
            CHECK_ALL(model->adapter.changes_tables, !model->config.tied_head);
            check_logits(*model, numbers, "logits", 5e-5);
            const auto row = numbers["ids"][0].get<std::vector<std::int32_t>>();
            KvCache cache(model->config);
            std::vector<float> z(model->config.vocab_size);
            InferenceModel(*model).prefill(cache, row, z);
            check_last_logits(z, numbers, row.size());
            const ScratchFolder merged;
            CHECK_THROWS_WITH(save_adapter(merged.path(""), *model, *tokenizer), contains("is read alone"));
            CHECK_THROWS_WITH(write_gguf_adapter(merged.path("x"), *model, GgufType::F32, "x"),
                              contains("is read alone"));
            model->merge_adapters();  // PEFT changes a tied head with its table; here it is the model before that
            if (!tied) check_logits(*model, numbers, "merged", 5e-5);
            check_logits(*model, numbers, "logits", 5e-5);
            save_model(merged.path(""), *model, *tokenizer);
            check_logits(*load_model(merged.path("")).model, numbers, "logits", 5e-5);
        }
    }
    const std::string table = "base_model.model.model.embed_tokens.", head = "base_model.model.lm_head.";
    for (const std::string& name : {table + "base_layer.weight", head + "base_layer.weight"}) {
        const AdapterCopy copy("tied_tables");
        CHECK(copy.refusal().empty());
        for (const WeightType type : {WeightType::bf16, WeightType::q8_0})  // weights that were rounded on the way
            CHECK_NOTHROW(load_model(copy.folder, std::nullopt, {type}));
        copy.change_tensors([&](StoredTensors& all) { all.at(name).values[5] += 0.01f; });
        CHECK_THAT(copy.refusal(), contains(name + " differs from the model's own"));
        copy.change_tensors([&](StoredTensors& all) {
            auto& weight = all.at(name);
            weight.shape[0] -= 1, weight.values.resize(weight.shape[0] * weight.shape[1]);
        });
        CHECK_THAT(copy.refusal(), contains(name + " has shape (20, 24) where (21, 24) is wanted"));
    }
    const AdapterCopy other("tables");
    other.change_tensors([&](StoredTensors& all) {  // as where the vocabulary has grown, and none was targeted
        all["base_model.model.model.layers.0.mlp.up_proj.base_layer.weight"] = {{1}, {0}};
        all.erase(table + "lora_embedding_B");
        all[table + "weight"] = all[table + "base_layer.weight"];
    });
    CHECK_THAT(other.refusal(), contains("embed_tokens.lora_embedding_B is missing",
                                         "model.layers.0.mlp.up_proj.base_layer.weight is not known",
                                         "embed_tokens.weight is not known"));
}

TEST_CASE("adapters: names may hold the adapter's own, and too large weights are refused", "[models]") {
    for (const std::string folder : {"tied_tables", "llama"}) {
        const AdapterCopy copy(folder);
        const auto numbers = peft_numbers(copy.folder);
        const auto rename = [](const std::string& name, const std::string& adapter) {
            const std::size_t at = name.find(".lora_");
            if (at == std::string::npos) return name;
            const std::size_t end = name.ends_with(".weight") ? name.size() - 7 : name.size();
            return name.substr(0, end) + "." + adapter + name.substr(end);
        };
        copy.change_tensors([&](StoredTensors& all) {
            StoredTensors named;
            for (const auto& [name, tensor] : all) named[rename(name, "default")] = tensor;
            all = named;
        });
        check_logits(*load_model(copy.folder).model, numbers, "logits", 5e-5);
        copy.change_tensors([&](StoredTensors& all) {
            for (const auto& [name, tensor] : StoredTensors(all))
                if (name.ends_with(".default.weight")) all[name.substr(0, name.size() - 14) + "other.weight"] = tensor;
        });
        CHECK_THAT(copy.refusal(), contains("holds several adapters"));
    }
    const AdapterCopy large("llama");
    large.change_tensors([](StoredTensors& all) {
        for (auto& [name, tensor] : all) tensor.values.assign(tensor.values.size(), 1e9f);
    });
    CHECK_THAT(large.refusal(),
               contains("adapter_model.safetensors: base_model.model.", "makes weights of up to 8.0e+18"));
    const AdapterCopy pickle("llama");
    fs::rename(pickle.folder / "adapter_model.safetensors", pickle.folder / "adapter_model.bin");
    CHECK_THAT(pickle.refusal(), contains("holds adapter_model.bin, which is not read", "python3 -c \"import torch"));
}

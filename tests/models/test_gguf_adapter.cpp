// An adapter in llama.cpp's format: its keys, and tensors that change the model's file into the merged model's.
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "models/files/gguf/gguf_export.h"
#include "tests/support/gguf.h"

TEST_CASE("gguf adapter: beside the model's tensors it is the merged model", "[models]") {
    for (const char* name : {"llama", "qwen3", "gpt2", "gpt_neox", "llama_head", "patterns", "patterns_gpt2"}) {
        INFO(name);
        const ScratchFolder scratch;
        const std::string lora = scratch.path("lora.gguf"), merged = scratch.path("merged.gguf"),
                          base = scratch.path("base.gguf"),
                          folder = tests_path(std::string("reference/adapters/") + name);
        const auto type = formats::GgufType::F32;
        auto loaded = models::load_model(folder);
        const auto& [model, tokenizer] = loaded;
        const double whole_alpha = model->adapter.scale() * static_cast<double>(model->adapter.rank);
        models::write_gguf_adapter(lora, *model, type, name);
        model->merge_adapters();
        models::write_gguf(merged, *model, *tokenizer, type, name);
        models::write_gguf(base, *models::load_model(models::base_of_adapter(folder)).model, *tokenizer, type, name);
        const Gguf adapter(lora), whole(merged), plain(base);
        CHECK(adapter.pairs.at("general.type") == "adapter");
        CHECK(adapter.pairs.at("adapter.type") == "lora");
        CHECK(adapter.pairs.at("general.architecture") == plain.pairs.at("general.architecture"));
        const double alpha = adapter.pairs.at("adapter.lora.alpha").get<double>();
        CHECK(alpha == Approx(whole_alpha).epsilon(1e-6));
        std::size_t changed = 0;
        for (const auto& [tensor, values] : whole.tensors) {
            const auto a = adapter.tensors.find(tensor + ".lora_a"), b = adapter.tensors.find(tensor + ".lora_b");
            REQUIRE((a == adapter.tensors.end()) == (b == adapter.tensors.end()));
            const std::vector<float> before = plain.tensors.at(tensor).values, after = values.values;
            if (a == adapter.tensors.end()) {
                CHECK(before == after);
                continue;
            }
            ++changed;
            const std::size_t in = a->second.shape.at(1), out = b->second.shape.at(0);
            const std::size_t rank = b->second.shape.at(1);
            const double scale = alpha / static_cast<double>(rank);  // llama.cpp's
            CHECK(a->second.shape.at(0) == rank);
            const std::vector<float> x = a->second.values, y = b->second.values;
            double worst = 0;
            for (std::size_t i = 0; i < out * in; ++i) {
                double sum = static_cast<double>(before[i]);
                for (std::size_t k = 0; k < rank; ++k)
                    sum += scale * static_cast<double>(y[i / in * rank + k]) * static_cast<double>(x[k * in + i % in]);
                worst = std::max(worst, std::abs(sum - static_cast<double>(after[i])));
            }
            INFO(tensor);
            CHECK(worst < 1e-6);
        }
        CHECK(2 * changed == adapter.tensors.size());
        CHECK(changed > 0);
    }
}

// The weights of a folder: one file or shards, in three precisions; errors of an index in one line.
#include "models/files/weight_files.h"

#include "engine/base/half.h"
#include "models/inference/inference_model.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"

namespace {

// A folder with weights in two shards, and an index that tests may change.
struct Sharded : ModelFolder {
    json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", json::object()}};

    Sharded() {
        const StoredTensors all = read_tensors(weights());
        StoredTensors parts[2];
        for (const auto& [name, t] : all) {
            const int shard = name.find("h.1.") != std::string::npos;
            parts[shard].emplace(name, t);
            index["weight_map"][name] = file(shard);
        }
        for (const int shard : {0, 1}) write_tensors(path(file(shard)), parts[shard]);
        fs::remove(weights());
        write_index(index);
    }
    static std::string file(int shard) { return "model-0000" + std::to_string(shard + 1) + "-of-00002.safetensors"; }
    void write_index(const json& j) const { scratch.write("model.safetensors.index.json", j.dump()); }
    std::string refusal_with(const std::function<void(json&)>& change) const {
        json changed = index;
        change(changed);
        write_index(changed);
        return refusal();
    }
};

const std::string kName = "transformer.wpe.weight";

}  // namespace

TEST_CASE("weight files: shards are one set of weights, and an index that does not fit is refused", "[models]") {
    Sharded folder;
    REQUIRE(folder.refusal().empty());
    const IdArray ids = random_ids({1, 6}, 8, 1);
    CHECK(same_bits(load_model(folder.path()).model->forward(ids).value(), folder.model.forward(ids).value()));
    const auto files = WeightFiles::open(folder.path());
    CHECK(files.tensors().size() == 28);
    CHECK_THROWS_WITH(files.tensor("none"), contains("tensor \"none\" is missing"));
    CHECK(files.bytes() == 4 * folder.model.parameter_count());
    save_model(folder.path(), folder.model, folder.tokenizer);  // a whole file beside the index is preferred
    folder.write_index({});
    CHECK(folder.refusal().empty());
    const Sharded broken;
    const auto refuses = [&](const std::function<void(json&)>& change, const std::string& text) {
        const std::string message = broken.refusal_with(change);
        CHECK_THAT(message, contains(text));
        CHECK(message.find('\n') == std::string::npos);
    };
    refuses([](json& j) { j["weight_map"][kName] = "gone.safetensors"; }, broken.path("gone.safetensors").string());
    refuses([](json& j) { j["weight_map"][kName] = Sharded::file(1); }, kName + " is not in " + Sharded::file(1));
    refuses([](json& j) { j["weight_map"].erase(kName); }, kName + " is missing");
    refuses([](json& j) { j["weight_map"]["extra"] = Sharded::file(0); }, "extra is not in");
    refuses([](json& j) { j["weight_map"][kName] = 3; }, kName + " must be a name, got 3");
    for (const char* bad : {"../model.safetensors", "/etc/passwd", "", "a/b.safetensors", "model.bin", ".."})
        refuses([&](json& j) { j["weight_map"][kName] = bad; }, "must be a .safetensors file beside it");
    refuses([](json& j) { j["weight_map"][kName] = Sharded::file(0) + std::string(1, '\0') + ".safetensors"; },
            Sharded::file(0) + "...: its name has a NUL byte");
    for (const json& none : {json::array(), json::object(), json{{"weight_map", json::array()}}})
        refuses([&](json& j) { j = none; }, "an object with a weight_map is required");
    broken.scratch.write("model.safetensors.index.json", "{\"weight_map\": ");
    CHECK_THAT(broken.refusal(), contains("model.safetensors.index.json"));
    broken.write_index(broken.index);
    const std::string shard = read_file(broken.path(Sharded::file(1)));
    broken.scratch.write(Sharded::file(1), shard.substr(0, shard.size() - 5));
    CHECK_THAT(broken.refusal(), contains(Sharded::file(1)));
}

TEST_CASE("weight files: float16, bfloat16 and double are read, other kinds are refused by name", "[models]") {
    for (const DType dtype : {DType::F16, DType::BF16, DType::F64}) {
        ModelFolder folder;
        const StoredTensors tensors = read_tensors(folder.weights());
        SafetensorsWriter out;
        std::map<std::string, std::vector<double>> wide;
        for (const auto& [name, t] : tensors) {
            if (dtype == DType::F64) {
                auto& values = wide[name] = std::vector<double>(t.values.begin(), t.values.end());
                out.add(name, dtype, t.shape, values.data());
            } else {
                out.add_rounded(name, dtype, t.shape, t.values.data());
            }
        }
        out.write(folder.weights());
        const auto loaded = load_model(folder.path());
        const auto narrowed = [&](float v) {
            if (dtype == DType::F16) return f16_to_f32(f32_to_f16(v));
            return dtype == DType::BF16 ? widen(round_to_bfloat16(v)) : v;
        };
        for (const ParameterSpec& p : parameters(loaded.model->config)) {
            Array<float> want = folder.model.at(p).value().clone();
            std::transform(want.data(), want.data() + want.size(), want.data(), narrowed);
            CHECK(same_bits(loaded.model->at(p).value(), want));
        }
    }
}

TEST_CASE(
    "weight files: bfloat16 matrices that stay so give the same logits to the last bit, and so do those packed for a "
    "inference",
    "[models]") {
    for (const char* reference : {"llama_tiny", "llama_tiny_tied", "nanochat_tiny", "gpt2_tiny", "families/gpt_neox"}) {
        INFO(reference);
        auto [model, tokenizer] = load_model(tests_path("reference/") + reference);
        const ScratchFolder folder;
        save_model(folder.path(), *model, *tokenizer, DType::BF16);
        const auto wide = load_model(folder.path());
        const auto kept = load_model(folder.path(), std::nullopt, {WeightType::fp32, true});
        for (const ParameterSpec& p : parameters(model->config)) {
            const Weight<float>& weight = kept.model->at(p);
            CHECK((weight.packed() != nullptr) == may_be_packed(p));
            CHECK(same_bits(weight.values(), wide.model->at(p).value()));
        }
        const std::vector<std::int32_t> prompt = {1, 2, 3, 4, 5};
        for (const WeightType type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
            const auto logits = [&](const LoadedModel& loaded) {
                const InferenceModel inference(*loaded.model, type);
                KvCache cache(inference.config());
                KvCache* const text = &cache;
                const std::size_t V = inference.config().vocab_size;
                std::vector<float> all(2 * V);
                inference.prefill(cache, prompt, std::span(all).first(V));
                inference.step({&text, 1}, std::span(prompt).first(1), std::span(all).last(V));
                return all;
            };
            CHECK(logits(kept) == logits(wide));
            for (const LoadedModel* stored : {&wide, &kept}) {  // as float32, and as bfloat16
                const ScratchFolder again;
                save_model(again.path(), *wide.model, *wide.tokenizer, stored == &wide ? DType::F32 : DType::BF16);
                const auto packed = load_model(again.path(), std::nullopt, {type, true});
                CHECK(logits(packed) == logits(wide));
                const Weight<float>& table = packed.model->outer[ParameterName::token_table].weight;
                CHECK((table.packed() != nullptr) == (stored == &kept));  // exact
            }
        }
    }
}

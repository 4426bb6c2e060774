// Runs that train low-rank adapters: their checkpoints, the same bits after resuming, and their memory.
#include "formats/safetensors/safetensors.h"
#include "models/files/adapter_folder.h"
#include "tests/train/run.h"
#include "train/recipes/estimate.h"

namespace {

TrainOptions adapter_options() {
    TrainOptions o = small_options();
    o.n_embd = 32, o.max_iters = 6, o.save_every = 3;
    o.lora_rank = 2, o.lora_dropout = 0.2, o.init_from = "base", o.learning_rate = 1e-2;
    return o;
}

// The base model of adapters, and its folder.
struct Base {
    ScratchFolder scratch;
    TrainOptions options;
    fs::path folder;

    explicit Base(TrainOptions o, std::uint64_t seed = 3) : options(std::move(o)) { folder = write("base", seed); }

    fs::path write(const std::string& name, std::uint64_t seed) const {
        const auto tokenizer = CharTokenizer::from_text(letters(600));
        Transformer<float> model(options.model_config(tokenizer.vocab_size()), Generator{seed, 0});
        const fs::path path = scratch.path(name);
        fs::create_directories(path);
        save_model(path, model, tokenizer);
        return path;
    }
    std::unique_ptr<Transformer<float>> load(const fs::path& base) const {
        auto model = load_model(base, options.dropout, {options.base_precision}).model;
        model->train();
        return model;
    }
    std::unique_ptr<Transformer<float>> fresh() const {
        auto model = load(folder);
        model->adapt(options.adapter_options(), adapter_targets(model->config, options.lora_targets),
                     Generator{options.seed});
        model->adapter.base = folder.string();
        return model;
    }
    std::unique_ptr<Transformer<float>> from(const fs::path& checkpoint, const fs::path& base) const {
        auto model = load(base);
        load_adapter(checkpoint, *model);
        model->adapter.dropout = options.lora_dropout;
        return model;
    }
};

}  // namespace

TEST_CASE("adapter runs: the adapters alone are trained, saved, and gone on with to the same bits", "[train]") {
    TrainOptions o = adapter_options();
    o.base_precision = GENERATE(WeightType::fp32, WeightType::bf16, WeightType::q8_0), o.ema = GENERATE(0.0, 0.9);
    o.checkpoint_activations = o.ema > 0;
    const Base base(o);
    TrainOptions shorter = o;
    shorter.max_iters = 3;
    Run straight(o, letters(600), base.fresh()), half(shorter, letters(600), base.fresh());
    const Array<float> start = straight.weights();
    CHECK(static_cast<double>(start.size()) >= trained_count(o, straight.model->config));
    for (int i = 0; i < 6; ++i) straight.step();
    CHECK_FALSE(same_bits(start, straight.weights()));
    for (const auto& entry : straight.parameters().entries()) CHECK(entry.name.find(".lora_") != std::string::npos);

    RunFolder folder(base.scratch.path("run"));
    half.to_end(&folder);
    const fs::path newest = folder.checkpoints().front();
    CHECK_ALL(is_adapter(newest), !fs::exists(newest / "model.safetensors"));
    CHECK(find_model(folder.path()).parent_path() == folder.path());
    const auto state = SafetensorsFile::open(newest / "training_state.safetensors");
    for (const auto& [name, info] : state.tensors()) CHECK(name.find(".lora_") != std::string::npos);
    Run rest(o, letters(600), base.from(newest, base.folder));
    CHECK(rest.resume(newest, true).find("another model") == std::string::npos);
    for (int i = 0; i < 3; ++i) rest.step();
    CHECK(same_bits(rest.weights(), straight.weights()));
    // the folder alone gives the saved model
    const auto loaded = load_model(newest);
    CHECK(loaded.model->adapter.rank == 2);
}

TEST_CASE("adapter runs: another base model is told from the one that they were trained for", "[train]") {
    const Base base(adapter_options());
    RunFolder folder(base.scratch.path("run"));
    TrainOptions o = base.options;
    o.max_iters = 3;
    Run run(o, letters(600), base.fresh());
    run.to_end(&folder);
    const fs::path newest = folder.checkpoints().front(), other = base.write("other", 4);
    Run wrong(o, letters(600), base.from(newest, other));
    CHECK_THROWS_AS(wrong.resume(newest), Mismatch);
    CHECK_THROWS_WITH(wrong.resume(newest), contains("its adapters were trained for another model"));
    Run right(o, letters(600), base.from(newest, base.folder));
    CHECK(right.resume(newest).empty());
    // with --force, the next checkpoint belongs to the loaded model
    CHECK_THAT(wrong.resume(newest, true), contains("another model"));
    CHECK(wrong.state().base_fingerprint == base_fingerprint(*wrong.model));
    CHECK(wrong.state().base_fingerprint != right.state().base_fingerprint);
    // the fingerprint is the same with any number of threads, and does not depend on the adapters
    check_same_with_any_threads("fingerprint", [&] {
        const std::string text = base_fingerprint(*right.model);
        return std::vector{of<float>({static_cast<double>(std::hash<std::string>()(text) % 1000003)})};
    });
    const std::string before = base_fingerprint(*right.model);
    right.step();
    CHECK(base_fingerprint(*right.model) == before);
    // a changed bit in a checkpoint's own files
    const fs::path config = newest / "adapter_config.json";
    auto j = json::parse(read_file(config));
    j["lora_alpha"] = 7;
    write_file_atomic(config, j.dump());
    Run again(o, letters(600), base.from(newest, base.folder));
    CHECK_THROWS_WITH(again.resume(newest), contains("adapter_config.json or tokenizer.json beside it"));
}

TEST_CASE("adapter runs: the estimate matches the memory in use", "[train]") {
    TrainOptions o = adapter_options();
    o.base_precision = GENERATE(WeightType::fp32, WeightType::bf16, WeightType::q8_0);
    o.lora_targets = GENERATE(as<std::string>(), "all-linear", "c_attn");
    const Base base(o);
    Run run(o, letters(600), base.fresh());
    double trained = 0, frozen = 0;
    for (const auto& entry : run.parameters().entries()) trained += static_cast<double>(entry.parameter.size());
    for (const auto& p : run.parameters().frozen()) frozen += static_cast<double>(p.bytes());
    CHECK(trained_count(o, run.model->config) == trained);
    CHECK(frozen_bytes(o, run.model->config) == frozen);
    const Estimate sizes = estimate_sizes(o, run.model->config, 600);
    CHECK_ALL(sizes.state_bytes == frozen + 16 * trained, sizes.checkpoint_bytes == 12 * trained);
    const Estimate e = estimate(o, run.model->config, 600);
    CHECK_ALL(e.trained == trained, e.parameters == run.model->parameter_count());
    TrainOptions whole = o;
    whole.lora_rank = 0;
    CHECK(e.flops_per_step < estimate(whole, run.model->config, 600).flops_per_step);
    CHECK(trained_count(whole, run.model->config) == static_cast<double>(parameter_count(run.model->config)));
    CHECK(frozen_bytes(whole, run.model->config) == 0);
}

// Estimates of a run: the sizes computed from the options are those of the run.
#include "train/recipes/estimate.h"

#include "engine/process/memory.h"
#include "models/families/family.h"
#include "tests/train/run.h"

static train::TrainOptions options(OptimizerKind optimizer, double ema, const char* arch = "gpt2") {
    train::TrainOptions o = small_options();
    o.arch = arch, o.optimizer = optimizer, o.ema = ema, o.n_layer = 2, o.n_head = 4, o.n_embd = 64;
    return o;
}

TEST_CASE("estimate: matrices as the optimizer tells them, attention by the width of its heads", "[train]") {
    for (const char* arch : {"gpt2", "nanochat"})
        for (const bool bias : {false, true})
            for (const std::size_t kv_heads : {0, 2}) {
                train::TrainOptions o = options(OptimizerKind::muon, 0, arch);
                o.bias = bias;
                if (o.arch == "nanochat") o.n_kv_head = kv_heads;
                Run run(o);
                std::size_t matrices = 0;
                for (const auto& entry : run.parameters().entries())
                    if (entry.kind.role == nn::Role::matrix) matrices += entry.parameter.size();
                INFO(arch << " bias " << bias << " kv heads " << kv_heads);
                CHECK(models::matrix_count(run.model->config) == matrices);
            }
    models::Architecture a = models::family("llama").defaults(false);
    a.vocab_size = 50, a.n_layer = 3, a.n_head = 4, a.n_embd = 32, a.block_size = 16, a.head_dim = 24,
    a.tied_head = true;
    // scores and averages: each 2 H d operations per pair of tokens, half of the T^2 pairs, three times with backward
    const double pairs = 16.0 * 16 / 2, heads = 4 * 24, attention = 3 * 3 * 2 * 2 * heads * pairs;
    const double layer = 32 * (3 * heads) + heads * 32 + 3 * 32 * static_cast<double>(a.inner()) + 2 * 32;
    const double multiplied = 3 * layer + 32 + 50 * 32;
    CHECK(train::training_flops(a, 16) == Approx(6 * multiplied * 16 + attention).epsilon(1e-12));
}

TEST_CASE("estimate: a checkpoint takes as much of the disk, with every optimizer and average", "[train]") {
    for (const auto& [optimizer, name] : names(OptimizerKind{}))
        for (const double ema : {0.0, 0.9})
            for (const char* arch : {"gpt2", "nanochat"}) {
                const ScratchFolder scratch;
                train::TrainOptions o = options(optimizer, ema, arch);
                o.max_iters = 1;
                Run run(o);
                train::RunFolder folder(scratch.path());
                run.to_end(&folder);
                double bytes = 0;
                for (const auto& file : fs::directory_iterator(folder.path() / "latest"))
                    bytes += static_cast<double>(file.file_size());
                const train::Estimate needed = train::estimate_sizes(o, run.model->config, 600);
                INFO(name << " " << ema << " " << arch);
                CHECK(needed.checkpoint_bytes == Approx(bytes).epsilon(0.05));
                CHECK(needed.state_bytes ==
                      needed.checkpoint_bytes + 4 * static_cast<double>(run.model->parameter_count()));
                CHECK(needed.text_bytes == 1200);  // 600 ids of 2 bytes
            }
}

TEST_CASE("estimate: what cannot fit is refused, a recomputed layer keeps its input", "[train][unsanitized]") {
    train::TrainOptions o = options(OptimizerKind::adamw, 0);
    CHECK_NOTHROW(train::check_memory(o, o.model_config(100), 1e6));
    const std::size_t before = memory_in_use();
    for (const auto& [layers, width, batch] : {std::tuple<std::size_t, std::size_t, std::size_t>{1'000'000'000, 64, 1},
                                               {2, std::size_t{1} << 20, 1},
                                               {2, 64, 1'000'000'000}}) {
        o.n_layer = layers, o.n_embd = width, o.batch_size = batch;
        CHECK_THROWS_WITH(train::check_memory(o, o.model_config(100), 1e6),
                          contains("out of memory: this run needs about ", "B are free", "choose a smaller model"));
        CHECK(memory_in_use() < before + (std::size_t{500} << 20));
    }
    train::TrainOptions llama = options(OptimizerKind::adamw, 0, "llama");
    llama.lora_rank = 4, llama.checkpoint_activations = true, llama.batch_size = 4, llama.block_size = 128;
    models::Architecture config = models::family("llama").defaults(false);
    config.n_embd = 256, config.n_head = 4, config.block_size = 128;
    const auto work = [&](std::size_t layers) {
        config.n_layer = layers;
        return train::estimate(llama, config, 1e5).work_bytes;
    };
    const double input = 4.0 * 4 * 128 * 256;  // bytes of a layer's
    CHECK(work(40) - work(20) < 3 * 20 * input);
}

TEST_CASE("estimate: layers are recomputed where memory asks for it and nothing is given", "[train][unsanitized]") {
    train::Config c;
    c.options = options(OptimizerKind::adamw, 0);
    const auto chosen = [&] {
        c.options.checkpoint_activations = false;
        train::fit_memory(c, c.options.model_config(100), 1e6);
        return c.options.checkpoint_activations;
    };
    CHECK_FALSE(chosen());
    c.options.batch_size = 1'000'000'000;
    CHECK(chosen());
    c.given["checkpoint-activations"] = train::Config::Source::flag;
    CHECK_FALSE(chosen());
}

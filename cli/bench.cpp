// inkling bench
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/bench_profile.h"
#include "cli/common.h"
#include "cli/training/multiprocess.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "models/families/family.h"
#include "train/recipes/estimate.h"
#include "train/step/step.h"

namespace inkling::cli {
namespace {

struct Preset {
    std::string name;
    std::size_t n_layer, n_head, n_embd, block_size, batch_size, vocab_size;
    std::string arch = "gpt2";
    std::size_t n_kv_head = 0, n_inner = 0;
    bool tied_head = false;  // in a family that usually has an untied head
};

const std::vector<Preset> kPresets = {
    {"micro", 1, 4, 16, 16, 1, 27},
    {"tiny", 4, 4, 128, 64, 12, 65},
    {"small", 6, 6, 384, 256, 8, 65},
    {"gpt2", 12, 12, 768, 256, 4, 50257},
    {"smollm2", 30, 9, 576, 256, 2, 49152, "llama", 3, 1536, true},  // SmolLM2-135M
};

struct BenchArguments {
    std::vector<std::string> presets{"tiny"};
    std::size_t batch = 0, shards = 0, block_size = 0, vocab_size = 0, threads = 0;
    std::string precision = "fp32", arch;
    double seconds = 6;
    bool profile = false, checkpoint = false, json = false;
};

constexpr std::size_t kTokens = 200'000;  // in the text

// Several processes share the preset's batch.
nlohmann::ordered_json bench(Preset p, const BenchArguments& args, std::size_t threads,
                             distributed::Processes& processes) {
    if (args.block_size) p.block_size = args.block_size;
    if (args.vocab_size) p.vocab_size = args.vocab_size;
    if (!args.arch.empty() && args.arch != p.arch) p.arch = args.arch, p.n_kv_head = p.n_inner = 0, p.tied_head = false;
    train::TrainOptions options;
    options.n_layer = p.n_layer, options.n_head = p.n_head, options.n_embd = p.n_embd,
    options.block_size = p.block_size;
    options.batch_size = args.batch ? args.batch : p.batch_size;
    options.shards = args.shards ? args.shards : processes.count;
    if (options.batch_size % options.shards != 0)
        throw Usage(
            fmt::format("--batch must be a multiple of --shards, got {} and {}", options.batch_size, options.shards));
    options.arch = p.arch;
    options.n_kv_head = p.n_kv_head, options.n_inner = p.n_inner;
    options.bias = models::family(p.arch).biased;
    options.learning_rate = 3e-4;
    options.schedule = train::ScheduleKind::constant;
    options.beta2 = 0.95;
    options.val_fraction = 0;
    options.precision = *find_named<Precision>(args.precision);
    options.checkpoint_activations = args.checkpoint;
    models::Architecture architecture = options.model_config(p.vocab_size);
    if (p.tied_head) architecture.tied_head = true;
    train::check_memory(options, architecture, kTokens);
    const auto model = std::make_unique<models::Transformer<float>>(architecture, Generator{options.seed});
    std::vector<std::int32_t> tokens(kTokens);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int32_t>(random_below({2, 0}, i, p.vocab_size));
    const auto sampler =
        data::make_sampler(options.sampler, tokens, options.rows_per_shard(), options.block_size, options.seed);
    train::TrainingStep training(options, *model, *sampler, processes);
    std::vector<double> times;
    double total = 0;
    std::size_t step = 0;
    const auto goes_on = [&] { return processes.of_first(step < 5 || (total < args.seconds && step < 100000)); };
    for (; goes_on(); ++step) {
        const double start = seconds_now();
        training.run(step);
        const double seconds = seconds_now() - start;
        if (step < 3) continue;  // these create buffers and primitives
        times.push_back(seconds);
        total += seconds;
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    const double B = static_cast<double>(options.batch_size), T = static_cast<double>(p.block_size);
    const double flops = train::training_flops(architecture, B * T);
    rusage usage{};  // before the profile, which allocates large arrays
    getrusage(RUSAGE_SELF, &usage);
    std::string table;
    if (args.profile) table = profile_table([&] { training.run(step++); }, args.seconds, options.precision);
    const auto rounded = [](double x, double unit) { return std::round(x / unit) * unit; };
    nlohmann::ordered_json result = {{"preset", p.name},
                                     {"arch", p.arch},
                                     {"precision", args.precision},
                                     {"threads", threads},
                                     {"batch", options.batch_size},
                                     {"params", model->parameter_count()},
                                     {"ms_step", median * 1e3},
                                     {"best_ms", times.front() * 1e3},
                                     {"tok_s", rounded(B * T / median, 1)},
                                     {"gflops", rounded(flops / median / 1e9, 0.1)},
                                     {"peak_rss_mb", usage.ru_maxrss / 1024},
                                     {"profile", table}};
    if (options.shards > 1) result.update({{"shards", options.shards}, {"processes", processes.count}});
    return result;
}

int run_bench(const BenchArguments& args) {
    if (!(args.seconds > 0)) throw Usage(fmt::format("--seconds must be above 0, got {}", args.seconds));
    distributed::Processes& processes = distributed::start_processes();
    if (processes.count > 1 && args.profile) throw Usage("--profile is for one process: start it without mpirun");
    const std::size_t threads = set_threads_of(processes, args.threads);
    for (const std::string& name : args.presets) {
        auto r = bench(*std::find_if(kPresets.begin(), kPresets.end(), [&](const Preset& p) { return p.name == name; }),
                       args, threads, processes);
        if (!processes.first()) continue;
        const std::string table = r["profile"];
        if (table.empty() || !args.json) r.erase("profile");
        print(args.json
                  ? r.dump() + "\n"
                  : fmt::format("{:<7} {} {:9.3f} ms per step (best {:.3f}), {:.0f} tokens/s, {:.0f} GF/s, {} MB\n",
                                name, args.precision, r["ms_step"].get<double>(), r["best_ms"].get<double>(),
                                r["tok_s"].get<double>(), r["gflops"].get<double>(), r["peak_rss_mb"].get<long>()) +
                        table);
    }
    distributed::finish_processes(0);
    return 0;
}

}  // namespace

Action add_bench(CLI::App& app) {
    auto args = std::make_shared<BenchArguments>();
    std::vector<std::string> names;
    for (const Preset& preset : kPresets) names.push_back(preset.name);
    app.add_option("--preset", args->presets, "micro, tiny, small, gpt2, smollm2; several separated by commas")
        ->delimiter(',')
        ->check(refuse_other_than(names))
        ->capture_default_str();
    app.add_option("--arch", args->arch,
                   "model family; default: the preset's, gpt2 for all but smollm2, which is a llama")
        ->check(refuse_other_than(models::family_names()));
    app.add_option("--batch", args->batch, "sequences per step; 0: the preset's")->capture_default_str();
    app.add_option("--shards", args->shards, "parts of a batch, as in training; 0: the processes that mpirun started")
        ->capture_default_str();
    app.add_option("--block-size", args->block_size, "context size in tokens; 0: the preset's")->capture_default_str();
    app.add_option("--vocab-size", args->vocab_size, "vocabulary size; 0: the preset's")->capture_default_str();
    app.add_option("--threads", args->threads, "OpenMP threads; 0: the physical cores")->capture_default_str();
    app.add_option("--seconds", args->seconds, "seconds to measure each preset")->capture_default_str();
    app.add_option("--precision", args->precision, "precision of the operands of matrix products: fp32 or bf16")
        ->check(refuse_other_than(names_of<Precision>()))
        ->capture_default_str();
    app.add_flag("--checkpoint-activations", args->checkpoint,
                 "recompute activations in backward, as in training: less memory, more time");
    app.add_flag("--profile", args->profile, "also print a table of the time of each op");
    app.add_flag("--json", args->json, "print one JSON object per preset");
    return [args] { return run_bench(*args); };
}

}  // namespace inkling::cli

// inkling bench
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/training/multiprocess.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "engine/base/clock.h"
#include "engine/base/profile.h"
#include "engine/base/random.h"
#include "engine/weights/operand.h"
#include "models/families/family.h"
#include "train/optimizers/optimizer.h"
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

// The shortest time of several runs.
template <class F>
double best_time(const F& run) {
    double best = 1e30;
    for (int i = 0; i < 12; ++i) {
        const double start = seconds_now();
        run();
        best = std::min(best, seconds_now() - start);
    }
    return best;
}

double product_ceiling(Precision precision) {
    constexpr std::size_t n = 1536;
    const WithPrecision scope(precision);
    const Operand<float> a(Array<float>({n, n}, 0.5f)), b(Array<float>({n, n}, 0.25f));
    Array<float> c({n, n});
    return 2.0 * n * n * n / best_time([&] { product(a, b, c); });
}

double memory_ceiling() {
    const Array<float> x({std::size_t{1} << 26}, 1.0f);  // 256 MiB: more than any cache
    volatile double sink = 0;
    const double seconds = best_time([&] { sink = train::gradient_norm(x); });
    return static_cast<double>(x.size() * sizeof(float)) / seconds;
}

std::string rate(double amount, double seconds) {
    return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

// The table of --profile: runs `step` for about `seconds`. The time of each op, the machine's peak, and what the step
// takes from the system.
std::string profile_table(const std::function<void()>& step, double seconds, Precision precision) {
    rusage before{}, after{};
    const PoolStatistics pool_before = pool_statistics();
    getrusage(RUSAGE_SELF, &before);
    profile::start();
    const double start = seconds_now();
    double steps = 0;
    while (steps < 3 || seconds_now() - start < seconds) step(), ++steps;
    const double total = seconds_now() - start;
    const auto laps = profile::stop();
    getrusage(RUSAGE_SELF, &after);
    const PoolStatistics pool_after = pool_statistics();

    std::vector<std::pair<std::string, profile::Lap>> rows(laps.begin(), laps.end());
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    std::string table = fmt::format("{:<22} {:>6} {:>10} {:>7} {:>8} {:>8}\n", "op (': backward)", "calls", "ms",
                                    "share", "GF/s", "GB/s");
    double in_laps = 0, flops = 0;
    for (const auto& [op, lap] : rows) {
        table +=
            fmt::format("{:<22} {:>6.0f} {:>10.3f} {:>6.1f}% {:>8} {:>8}\n", op, static_cast<double>(lap.calls) / steps,
                        lap.seconds / steps * 1e3, 100 * lap.seconds / total, rate(lap.flops, lap.seconds),
                        lap.flops > 0 ? "" : rate(lap.bytes, lap.seconds));
        in_laps += lap.seconds, flops += lap.flops;
    }
    const auto held = static_cast<double>(pool_after.bytes_in_use + pool_after.bytes_cached);
    const auto per_step = [steps](auto now, auto then) { return static_cast<double>(now - then) / steps; };
    table += fmt::format("{:<22} {:>6} {:>10.3f} {:>6.1f}%\n", "other", "", (total - in_laps) / steps * 1e3,
                         100 * (total - in_laps) / total);
    table += fmt::format("{:<22} {:>6} {:>10.3f} {:>6.1f}% {:>8}\n", "whole step", "", total / steps * 1e3, 100.0,
                         rate(flops, total));
    table +=
        fmt::format("this machine's peak, measured now: products {:.0f} GF/s, memory {:.1f} GB/s (caches are faster)\n",
                    product_ceiling(precision) / 1e9, memory_ceiling() / 1e9);
    table += fmt::format(
        "per step: {:.0f} buffers from the pool, {:.2f} from the system; {:.2f} page faults, {:.2f} context switches; "
        "the pool holds {:.0f} MB, at most {:.0f} MB of it were in use\n",
        per_step(pool_after.requests, pool_before.requests),
        per_step(pool_after.system_allocations, pool_before.system_allocations),
        per_step(after.ru_minflt + after.ru_majflt, before.ru_minflt + before.ru_majflt),
        per_step(after.ru_nvcsw + after.ru_nivcsw, before.ru_nvcsw + before.ru_nivcsw), held / 1048576.0,
        static_cast<double>(pool_after.peak_bytes) / 1048576.0);
    return table;
}

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
    check<Usage>(options.batch_size % options.shards == 0, "--batch must be a multiple of --shards, got {} and {}",
                 options.batch_size, options.shards);
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
    check<Usage>(args.seconds > 0, "--seconds must be above 0, got {}", args.seconds);
    distributed::Processes& processes = distributed::start_processes();
    check<Usage>(processes.count == 1 || !args.profile, "--profile is for one process: start it without mpirun");
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
    app.add_option("--preset", args->presets, "micro, tiny, small, gpt2 or smollm2; or several, separated by commas")
        ->delimiter(',')
        ->check(refuse_other_than(names));
    app.add_option("--arch", args->arch, "model family; default: the preset's (gpt2; llama for smollm2)")
        ->check(refuse_other_than(models::family_names()));
    app.add_option("--batch", args->batch, "sequences per step; 0: the preset's");
    app.add_option("--shards", args->shards, "equal parts of a batch; 0: the number of processes");
    app.add_option("--block-size", args->block_size, "context size in tokens; 0: the preset's");
    app.add_option("--vocab-size", args->vocab_size, "vocabulary size; 0: the preset's");
    app.add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    app.add_option("--seconds", args->seconds, "seconds to measure each preset");
    app.add_option("--precision", args->precision, "matrix products in fp32 or bf16")
        ->check(refuse_other_than(names_of<Precision>()));
    app.add_flag("--checkpoint-activations", args->checkpoint,
                 "recompute activations in backward: less memory, more time");
    app.add_flag("--profile", args->profile, "also print the time of each op");
    app.add_flag("--json", args->json, "print one JSON object per preset");
    return [args] { return run_bench(*args); };
}

}  // namespace inkling::cli

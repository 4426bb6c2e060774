#include "cli/training/train_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "cli/training/progress.h"
#include "cli/usage/setting_flag.h"
#include "distributed/launch.h"
#include "formats/files/file.h"
#include "models/families/family.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "train/recipes/estimate.h"
#include "train/recipes/finetune.h"
#include "train/recipes/speed.h"
#include "train/run/checkpoint.h"
#include "train/run/run_folder.h"

namespace inkling::cli {

namespace fs = std::filesystem;
using train::TrainOptions;

namespace {

// A resumed run starts from its own settings: those of its folder, which may be newer, else of a checkpoint.
void read_own_settings(const Resume& resume, TrainOptions& options) {
    if (!resume.run.empty() && formats::is_there(resume.run / "config.toml"))
        return static_cast<void>(read_toml(resume.run / "config.toml", options));
    for (const fs::path& candidate : resume.candidates) {
        try {
            return static_cast<void>(train::parse_toml(train::stored_config(candidate), candidate.string(), options));
        } catch (const BadInput&) {  // said when it is tried
        }
    }
}

// Of flags that are given: what goes without what. An adapter to go on from has its own settings, and names its model.
void check_adapter_flags(const TrainArguments& args, bool resumed, TrainOptions& o) {
    if (!o.init_adapter.empty() && !resumed) {
        const fs::path folder = models::find_model(o.init_adapter);
        check<BadInput>(models::is_adapter(folder), "--init-adapter {}: is no adapter: it has no adapter_config.json",
                        o.init_adapter);
        if (o.init_from.empty()) o.init_from = models::base_of_adapter(folder).string();
        take_adapter(args, models::read_adapter_config(folder), o);
    }
    if (o.lora_rank > 0) {
        if (args.has("softcap"))
            throw Usage("--softcap changes the model, which adapters leave as it is: leave it out");
        return;
    }
    for (const char* flag : {"lora-alpha", "lora-dropout", "lora-targets", "rs-lora", "base-precision"})
        if (args.has(flag)) throw Usage(fmt::format("--{} is for adapters: add --lora-rank", flag));
}

// The settings of these names.
void copy_settings(const std::set<std::string>& names, TrainOptions& from, TrainOptions& to) {
    const std::vector<train::Setting> sources = train::settings(from), targets = train::settings(to);
    for (std::size_t i = 0; i < sources.size(); ++i)
        if (names.contains(sources[i].name)) targets[i].copy(sources[i]);
}

// `loaded`: `options` with what a folder holds, which is taken over. Flags that say otherwise are Usage.
void take_over(const TrainArguments& args, TrainOptions loaded, const char* what, TrainOptions& options) {
    for (const auto& [own, other] : train::differing(options, loaded)) {
        if (args.has(own.name))
            throw Usage(fmt::format("--{} is {} in the {} that is loaded, got {}: leave the flag out", own.name,
                                    other.text(), what, own.text()));
        own.copy(other);
    }
}

// What comes on top of --max-time, where that is much: a large model is evaluated, saved and sampled slowly.
std::string time_on_top(const TrainOptions& o, const models::Architecture& architecture, const train::Budget& budget,
                        double seconds_per_step) {
    constexpr double kMuch = 1.25;
    const auto tokens = static_cast<double>(budget.tokens);
    train::Estimate sizes;
    train::estimate_sizes(o, architecture, tokens, sizes);
    const auto [training, all] = train::planned_seconds(o, sizes, tokens, seconds_per_step);
    if (all < kMuch * training) return "";
    return fmt::format(
        "; about {} in all, {} of them training: the rest is for evaluations, samples and checkpoints of {}",
        short_time(all), short_time(training), quantity(sizes.checkpoint_bytes, "B"));
}

}  // namespace

std::vector<train::Setting> all_settings(TrainArguments& args) {
    using namespace train;
    std::vector<Setting> all = settings(args.given);
    const std::vector<Setting> of_one_start = {
        {"recipe", &args.recipe, Group::run, kUsual | kOneStart,
         fmt::format("named settings, which other flags override: {}; default: stories without --data, finetune with "
                     "--init-from or --init-adapter, else fast",
                     fmt::join(recipe_names(), ", ")),
         recipe_names()},
        {"config", &args.config, Group::run, kUsual | kOneStart | kTakesFile,
         "settings from a TOML file, such as a run's config.toml"},
        {"serve", &args.serve, Group::run, kUsual | kOneStart,
         "[HOST:]PORT of a page that shows the run while it trains; on loopback, the default, it also asks for samples "
         "and stops the run"},
        {"allow-host", &args.allow_hosts, Group::run, kUsual | kOneStart,
         "with --serve: another name for this machine in requests; repeatable"},
        {"dry-run", &args.dry_run, Group::run, kUsual | kOneStart,
         "print the parameters, memory, work and time of the run, and stop"},
        {"json", &args.json, Group::run, kUsual | kOneStart, "print what happens on stdout, one JSON object a line"},
        {"quiet", &args.quiet, Group::run, kUsual | kOneStart, "say nothing on stderr but warnings and errors"},
        {"processes", &args.processes, Group::run, kOneStart,
         "with --dry-run: how many processes mpirun is to start, for the memory of each"},
        {"broadcast-data", &args.broadcast_data, Group::run, kOneStart,
         "several processes: the first reads the text, and sends it to the others"},
        {"force", &args.force, Group::run, kOneStart,
         "resume even if the text, the tokenizer or settings have changed"},
    };
    all.insert(all.end(), of_one_start.begin(), of_one_start.end());
    return all;
}

Settings read_given(const TrainArguments& args) {
    Settings s;
    if (!args.config.empty()) s.given = as_usage([&] { return read_toml(args.config, s.options); });
    TrainOptions flags = args.given;
    copy_settings(args.flags, flags, s.options);
    s.given.insert(args.flags.begin(), args.flags.end());
    return s;
}

Resume find_resume(const Settings& given) {
    const std::string &out = given.options.out, &from = given.options.resume;
    for (const std::string& path : {out, from})
        if (path != "auto") static_cast<void>(formats::is_there(path));  // else it says why that cannot be told
    if (from.empty()) return {};
    if (from == "auto") return {out, train::find_checkpoints(out)};
    Resume resume{from, train::find_checkpoints(from)};
    if (!resume.candidates.empty()) return resume;
    const fs::path checkpoint = fs::weakly_canonical(models::find_model(from));  // `latest` is a link
    const bool named_as_one = train::is_checkpoint(checkpoint.filename().string());
    return {named_as_one ? checkpoint.parent_path() : fs::path(), {checkpoint}};
}

Settings resolve(const TrainArguments& args, Settings s, const Resume& resume) {
    const bool resumed = !resume.candidates.empty();
    TrainOptions given = std::move(s.options);
    s.options = {};
    if (resumed) {
        as_usage([&] { read_own_settings(resume, s.options); });
        if (!resume.run.empty()) s.options.out = resume.run.string();  // it may have been moved
    }
    if (!args.recipe.empty()) s.recipe = as_usage([&] { return &train::recipe(args.recipe); });
    if (resumed) s.recipe = nullptr;  // what it chose at first holds
    if (!s.recipe && !resumed && args.config.empty())
        s.recipe = &train::default_recipe(!args.has("data"), args.has("init-from") || args.has("init-adapter"));
    if (s.recipe) s.options = s.recipe->options;
    if (given.plan.adjustable || given.plan.changed_at > 0) s.options.plan = given.plan;
    copy_settings(s.given, given, s.options);
    check_adapter_flags(args, resumed, s.options);
    if (s.recipe && s.recipe->tunes && s.options.init_from.empty())
        throw Usage("--recipe finetune is for a model that exists: name it with --init-from MODEL");
    if (!resumed && !s.given.contains("shards")) s.options.shards = args.processes;
    if (s.fits_run()) train::fit_given(s.given, s.options);
    if (resumed && args.has("max-iters") && !args.has("max-time")) s.options.max_time = 0;
    const bool chosen = s.fits_run() && s.recipe->fits_shape && !s.given.contains("tokenizer");
    if (args.has("vocab-size") && s.options.tokenizer != "bpe" && !chosen)
        throw Usage(fmt::format("--vocab-size is for --tokenizer bpe, got --tokenizer {}", s.options.tokenizer));
    if ((args.processes & (args.processes - 1)) != 0)
        throw Usage(fmt::format("the number of processes must be a power of two, got {}", args.processes));
    as_usage([&] { s.options.validate(); });
    if (s.options.shards % args.processes != 0)
        throw Usage(fmt::format("--shards must be a multiple of the number of processes, got {} and {}",
                                s.options.shards, args.processes));
    return s;
}

void fit_tokenizer(std::size_t bytes, Settings& s) {
    if (s.fits_run() && s.recipe->fits_shape && s.options.init_from.empty())
        train::fit_tokenizer(bytes, s.given, s.options);
}

train::Budget fit_sizes(train::Budget budget, const models::Architecture* loaded, Settings& s) {
    TrainOptions& o = s.options;
    if (!s.given.contains("precision")) o.precision = has_fast_bf16() ? Precision::bf16 : Precision::fp32;
    if (o.max_time > 0) {
        budget.seconds = o.max_time;
        budget.gflops = train::product_gflops(o.precision, distributed::processes());
    }
    if (s.recipe->tunes && loaded)
        train::fit_tuning(budget, *loaded, s.given, o);
    else
        train::fit(budget, s.recipe->fits_shape && !loaded, s.given, o);
    as_usage([&] { o.validate(); });
    return budget;
}

std::size_t planned_steps(const train::Budget& budget, double seconds_per_step, const Settings& s) {
    return s.recipe->tunes ? train::tuning_steps(budget, seconds_per_step, s.options)
                           : train::steps_within(budget, seconds_per_step, s.options);
}

void fit_to_steps(const train::Budget& budget, Settings& s) {
    s.recipe->tunes ? train::fit_tuning_to_steps(budget, s.given, s.options)
                    : train::fit_to_steps(budget, s.given, s.options);
}

std::string fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, train::Budget budget,
                       models::Transformer<float>* loaded, Settings& s) {
    if (!s.fits_run()) return "";
    TrainOptions& o = s.options;
    budget = fit_sizes(budget, loaded ? &loaded->config : nullptr, s);
    const models::Architecture architecture = loaded ? loaded->config : o.model_config(tokenizer.vocab_size());
    train::check_memory(o, architecture, static_cast<double>(budget.tokens));
    double step = 0;
    if (!s.given.contains("max-iters")) {
        const double time = 0.03 * budget.seconds;
        distributed::Processes* const all = distributed::processes();
        step = loaded ? train::seconds_per_step(o, *loaded, tokenizer, tokens, time, all)
                      : train::seconds_per_step(o, architecture, tokenizer, tokens, time, all);
        o.max_iters = planned_steps(budget, step, s);
        o.plan.adjustable =
            o.max_time > 0 && static_cast<double>(o.max_iters) * step > o.max_time;  // it is the time that ends it
    }
    fit_to_steps(budget, s);
    return fmt::format("{}, {}, width {}, {}; {} of {} of {}{}", counted(o.n_layer, "layer"), counted(o.n_head, "head"),
                       o.n_embd, name_of(o.precision), counted(o.max_iters, "step"), counted(o.batch_size, "sequence"),
                       counted(o.block_size, "token"), step > 0 ? time_on_top(o, architecture, budget, step) : "");
}

void change_softcap(const Settings& s, models::Architecture& config) {
    if (!s.given.contains("softcap") || s.options.softcap < 0) return;
    if (s.options.softcap > 0 && !models::family(config.family).has_flag("softcap"))
        throw Usage(fmt::format("--softcap is not for --arch {}: leave it out", config.family));
    config.softcap = s.options.softcap;
}

void take_adapter(const TrainArguments& args, const models::AdapterOptions& adapter, TrainOptions& options) {
    TrainOptions loaded = options;
    loaded.lora_rank = adapter.rank;
    loaded.lora_alpha = adapter.alpha;
    loaded.rs_lora = adapter.rank_stabilized;
    if (!args.has("lora-dropout")) loaded.lora_dropout = adapter.dropout;
    take_over(args, loaded, "adapter", options);
}

void check_targets(const models::Architecture& config, const TrainOptions& options) {
    if (options.lora_rank > 0) as_usage([&] { return models::adapter_targets(config, options.lora_targets); });
}

void take_shape(const TrainArguments& args, const models::Architecture& config, bool chosen, TrainOptions& options) {
    if (args.has("block-size") && options.block_size > config.block_size)
        throw Usage(fmt::format("--block-size must be at most {}, the context of the model that is loaded, got {}",
                                config.block_size, options.block_size));
    options.block_size = chosen ? std::min(options.block_size, config.block_size) : config.block_size;
    TrainOptions loaded = options;
    loaded.arch = config.family;
    loaded.n_layer = config.n_layer, loaded.n_head = config.n_head, loaded.n_embd = config.n_embd;
    // the others where their default, which `shape` has, is not what the model has
    const models::Architecture shape = loaded.model_config(1);
    if (shape.kv_heads() != config.kv_heads()) loaded.n_kv_head = config.kv_heads();
    if (shape.inner() != config.inner()) loaded.n_inner = config.inner();
    if (shape.head_size() != config.head_size()) loaded.head_dim = config.head_size();
    if (shape.rope_theta != config.rope_theta) loaded.rope_theta = config.rope_theta;
    if (shape.softcap != config.softcap) loaded.softcap = config.softcap;
    if (models::family(config.family).defaults(options.bias).qkv_bias != config.qkv_bias)  // Qwen 2 leaves no choice
        loaded.bias = config.qkv_bias;
    take_over(args, loaded, "model", options);
}

}  // namespace inkling::cli

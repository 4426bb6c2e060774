#include "cli/training/train_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/training/progress.h"
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

// body(), where what an Error refuses is a setting.
template <class Body>
auto as_usage(const Body& body) {
    try {
        return body();
    } catch (const BadInput&) {
        throw;
    } catch (const Error& e) {
        throw Usage(e.what());
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

double read_duration(const std::string& text) {
    const std::string_view all = text;
    double seconds = 0;
    const char* at = text.c_str();
    const char* const end = at + text.size();
    bool good = !text.empty();
    while (good && at != end) {
        double number = 0;
        const auto [rest, error] = std::from_chars(at, end, number);
        const std::size_t unit = rest == end ? 0 : std::string_view("smhd").find(*rest);
        good =
            error == std::errc() && number >= 0 && unit != std::string_view::npos && (rest != end || at == all.data());
        if (!good) break;
        seconds += number * std::array{1.0, 60.0, 3600.0, 86400.0}[unit];
        at = rest == end ? end : rest + 1;
    }
    if (!good)
        throw Usage(fmt::format("--max-time must be seconds, or a time such as 90s, 5m or 1h30m, got '{}'", text));
    return seconds;
}

Resume find_resume(const TrainArguments& args) {
    TrainOptions options;
    if (!args.config.empty()) as_usage([&] { return read_toml(args.config, options); });
    if (args.has("out")) options.out = args.given.out;
    const std::string& from = args.given.resume;
    for (const std::string& path : {options.out, from})
        if (path != "auto") static_cast<void>(formats::is_there(path));  // else it says why that cannot be told
    if (from.empty()) return {};
    if (from == "auto") return {options.out, train::find_checkpoints(options.out)};
    Resume resume{from, train::find_checkpoints(from)};
    if (!resume.candidates.empty()) return resume;
    const fs::path checkpoint = fs::weakly_canonical(models::find_model(from));  // `latest` is a link
    const bool named_as_one = train::is_checkpoint(checkpoint.filename().string());
    return {named_as_one ? checkpoint.parent_path() : fs::path(), {checkpoint}};
}

Settings resolve(const TrainArguments& args, const Resume& resume) {
    Settings s;
    const bool resumed = !resume.candidates.empty();
    if (resumed) {
        as_usage([&] { read_own_settings(resume, s.options); });
        if (!resume.run.empty()) s.options.out = resume.run.string();  // it may have been moved
    }
    if (!args.recipe.empty()) s.recipe = as_usage([&] { return &train::recipe(args.recipe); });
    if (resumed) s.recipe = nullptr;  // what it chose at first holds
    if (!s.recipe && !resumed && args.config.empty())
        s.recipe = &train::default_recipe(args.given.data.empty(), args.has("init-from") || args.has("init-adapter"));
    if (s.recipe) s.options = s.recipe->options;
    if (!args.config.empty()) s.given = as_usage([&] { return read_toml(args.config, s.options); });
    TrainOptions::visit(s.options, [&](const std::string& flag, auto& field, const char*) {
        TrainOptions::visit(args.given, [&](const std::string& other, const auto& value, const char*) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::decay_t<decltype(field)>>) {
                if (flag != other || !args.has(flag)) return;
                field = value;
                s.given.insert(flag);
            }
        });
    });
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
        o.replan =
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
    const auto take = [&](const char* flag, auto& field, auto value) {
        if (args.has(flag) && field != value) {
            throw Usage(fmt::format("--{} is {} in the adapter that is loaded, got {}: leave the flag out", flag, value,
                                    field));
        }
        field = value;
    };
    take("lora-rank", options.lora_rank, adapter.rank);
    take("lora-alpha", options.lora_alpha, adapter.alpha);
    take("rs-lora", options.rs_lora, adapter.rank_stabilized);
    if (!args.has("lora-dropout")) options.lora_dropout = adapter.dropout;
}

void check_targets(const models::Architecture& config, const TrainOptions& options) {
    if (options.lora_rank > 0) as_usage([&] { return models::adapter_targets(config, options.lora_targets); });
}

void take_shape(const TrainArguments& args, const models::Architecture& config, bool chosen, TrainOptions& options) {
    const auto take = [&](const char* flag, auto& field, auto value) {
        if (args.has(flag) && field != value) {
            throw Usage(
                fmt::format("--{} is {} in the model that is loaded, got {}: leave the flag out", flag, value, field));
        }
        field = value;
    };
    take("arch", options.arch, config.family);
    take("n-layer", options.n_layer, config.n_layer);
    take("n-head", options.n_head, config.n_head);
    if ((options.n_kv_head ? options.n_kv_head : config.n_head) != config.kv_heads())
        take("n-kv-head", options.n_kv_head, config.kv_heads());
    take("n-embd", options.n_embd, config.n_embd);
    const models::Architecture usual = models::family(config.family).defaults(config.qkv_bias);
    if ((options.n_inner ? options.n_inner : 4 * config.n_embd) != config.inner())
        take("n-inner", options.n_inner, config.inner());
    if ((options.head_dim ? options.head_dim : config.n_embd / config.n_head) != config.head_size())
        take("head-dim", options.head_dim, config.head_size());
    if ((options.rope_theta > 0 ? options.rope_theta : usual.rope_theta) != config.rope_theta)
        take("rope-theta", options.rope_theta, config.rope_theta);
    if ((options.softcap >= 0 ? options.softcap : usual.softcap) != config.softcap)
        take("softcap", options.softcap, config.softcap);
    if (args.has("block-size") && options.block_size > config.block_size)
        throw Usage(fmt::format("--block-size must be at most {}, the context of the model that is loaded, got {}",
                                config.block_size, options.block_size));
    options.block_size = chosen ? std::min(options.block_size, config.block_size) : config.block_size;
    if (models::family(config.family).defaults(options.bias).qkv_bias != config.qkv_bias)  // Qwen 2 leaves no choice
        take("bias", options.bias, config.qkv_bias);
}

}  // namespace inkling::cli

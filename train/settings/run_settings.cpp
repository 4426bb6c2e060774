#include "train/settings/run_settings.h"

#include <algorithm>
#include <cmath>

#include "formats/files/file.h"
#include "formats/gguf/gguf_file.h"
#include "models/families/family.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "train/recipes/estimate.h"
#include "train/recipes/finetune.h"
#include "train/recipes/speed.h"
#include "train/run/checkpoint.h"
#include "train/run/run_folder.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

// A resumed run starts from its own settings: those in its folder, which may be newer, else those in a checkpoint.
void read_own_settings(const Resume& resume, TrainOptions& options) {
    if (!resume.run.empty() && formats::is_there(resume.run / "config.toml"))
        return static_cast<void>(read_toml(resume.run / "config.toml", options));
    for (const fs::path& candidate : resume.candidates) {
        try {
            return static_cast<void>(parse_toml(stored_config(candidate), candidate.string(), options));
        } catch (const BadInput&) {  // reported when the checkpoint is tried
        }
    }
}

// Checks which adapter flags may be combined. An adapter that training continues from brings its settings and names its
// model.
void check_adapter_flags(bool resumed, RunSettings& s) {
    TrainOptions& o = s.options;
    if (!o.init_adapter.empty() && !resumed) {
        const fs::path folder = models::find_model(o.init_adapter);
        check<BadInput>(models::is_adapter(folder), "--init-adapter {}: is no adapter: it has no adapter_config.json",
                        o.init_adapter);
        if (o.init_from.empty()) o.init_from = models::base_of_adapter(folder).string();
        take_adapter(models::read_adapter_config(folder), s);
    }
    if (o.lora_rank > 0) {
        if (s.has("softcap"))
            throw WrongSetting("--softcap changes the model, which adapters leave as it is: leave it out");
        return;
    }
    for (const char* flag : {"lora-alpha", "lora-dropout", "lora-targets", "rs-lora", "base-precision"})
        if (s.has(flag)) throw WrongSetting(fmt::format("--{} is for adapters: add --lora-rank", flag));
}

// Takes over the settings in `loaded`, the options changed by the contents of a folder. Throws WrongSetting for flags
// that contradict them.
void take_over(TrainOptions loaded, const char* what, RunSettings& settings) {
    for (const auto& [own, other] : differing(settings.options, loaded)) {
        if (settings.has(own.name))
            throw WrongSetting(fmt::format("--{} is {} in the {} that is loaded, got {}: leave the flag out", own.name,
                                           other.text(), what, own.text()));
        own.set(other.json());
    }
}

}  // namespace

void copy_settings(const std::set<std::string>& names, TrainOptions& from, TrainOptions& to) {
    const std::vector<Setting> sources = settings(from), targets = settings(to);
    for (std::size_t i = 0; i < sources.size(); ++i)
        if (names.contains(sources[i].name)) targets[i].set(sources[i].json());
}

Resume find_resume(const RunSettings& given) {
    const std::string &out = given.options.out, &from = given.options.resume;
    for (const std::string& path : {out, from})
        if (path != "auto") static_cast<void>(formats::is_there(path));  // throws if that cannot be determined
    if (from.empty()) return {};
    if (from == "auto") return {out, find_checkpoints(out)};
    Resume resume{from, find_checkpoints(from)};
    if (!resume.candidates.empty()) return resume;
    if (!formats::is_there(from)) throw BadInput(from + ": there is no such run or checkpoint");
    const fs::path checkpoint = fs::weakly_canonical(models::find_model(from));  // `latest` is a link
    const bool named_as_one = is_checkpoint(checkpoint.filename().string());
    return {named_as_one ? checkpoint.parent_path() : fs::path(), {checkpoint}};
}

RunSettings resolve(RunSettings s, const Resume& resume) {
    const bool resumed = !resume.candidates.empty();
    TrainOptions given = std::move(s.options);
    s.options = {};
    if (resumed) {
        about_settings([&] { read_own_settings(resume, s.options); });
        if (!resume.run.empty()) s.options.out = resume.run.string();  // the folder may have been moved
    }
    if (resumed) s.recipe = nullptr;  // its first choices still hold
    if (!s.recipe && !resumed && !s.from_file)
        s.recipe = &default_recipe(!s.has("data"), s.has("init-from") || s.has("init-adapter"));
    if (s.recipe) s.options = s.recipe->options;
    if (given.plan.adjustable || !given.plan.changes.empty()) s.options.plan = given.plan;
    copy_settings(s.given, given, s.options);
    check_adapter_flags(resumed, s);
    if (s.has("teacher-weight") && s.options.teacher.empty())
        throw WrongSetting("--teacher-weight is for --teacher: name a model with it");
    if (s.recipe && s.recipe->tunes && s.options.init_from.empty())
        throw WrongSetting("--recipe finetune is for a model that exists: name it with --init-from MODEL");
    if (!resumed && !s.given.contains("shards")) s.options.shards = s.processes;
    if (s.fits_run()) fit_given(s.given, s.options);
    if (resumed && (s.has("max-iters") || s.has("max-flops")) && !s.has("max-time")) s.options.max_time = 0;
    const bool chosen = s.fits_run() && s.recipe->fits_shape && !s.given.contains("tokenizer");
    if (s.has("vocab-size") && s.options.tokenizer != "bpe" && !chosen)
        throw WrongSetting(fmt::format("--vocab-size is for --tokenizer bpe, got --tokenizer {}", s.options.tokenizer));
    if ((s.processes & (s.processes - 1)) != 0)
        throw WrongSetting(fmt::format("the number of processes must be a power of two, got {}", s.processes));
    about_settings([&] { s.options.validate(); });
    if (s.options.shards % s.processes != 0)
        throw WrongSetting(fmt::format("--shards must be a multiple of the number of processes, got {} and {}",
                                       s.options.shards, s.processes));
    return s;
}

void fit_tokenizer(std::size_t bytes, RunSettings& s) {
    if (s.fits_run() && s.recipe->fits_shape && s.options.init_from.empty()) fit_tokenizer(bytes, s.given, s.options);
}

Budget fit_sizes(Budget budget, const models::Architecture* loaded, RunSettings& s) {
    TrainOptions& o = s.options;
    const bool anywhere = o.max_flops > 0;
    if (!s.given.contains("precision")) o.precision = has_fast_bf16() && !anywhere ? Precision::bf16 : Precision::fp32;
    if (anywhere) {
        budget.operations = o.max_flops;
    } else if (o.max_time > 0) {
        budget.seconds = o.max_time;
        budget.gflops = product_gflops(o.precision);
    }
    if (s.recipe->tunes && loaded)
        fit_tuning(budget, *loaded, s.given, o);
    else
        fit(budget, s.recipe->fits_shape && !loaded, s.given, o);
    about_settings([&] { o.validate(); });
    return budget;
}

void fit_steps(const Budget& budget, double seconds_per_step, const models::Architecture& config, RunSettings& s) {
    TrainOptions& o = s.options;
    const bool given = s.given.contains("max-iters"), operations = s.given.contains("max-flops") && o.max_flops > 0;
    if (!operations && (given || !s.fits_run())) return;
    const double fitting = operations ? std::floor(o.max_flops / flops_per_step(o, config))
                                      : kPlannedTime * budget.seconds / seconds_per_step;
    const std::size_t steps = !s.fits_run()     ? static_cast<std::size_t>(std::clamp(fitting, 1.0, 1e9))
                              : s.recipe->tunes ? tuning_steps(budget, fitting, o)
                                                : planned_steps(budget, fitting, o);
    o.max_iters = given ? std::min(o.max_iters, steps) : steps;
}

void fit_to_steps(const Budget& budget, RunSettings& s) {
    s.recipe->tunes ? fit_tuning_to_steps(budget, s.given, s.options) : fit_to_steps(budget, s.given, s.options);
}

std::optional<FittedPlan> fit_recipe(const data::Tokenizer& tokenizer, data::TokenView tokens, Budget budget,
                                     models::Transformer<float>* loaded, RunSettings& s) {
    TrainOptions& o = s.options;
    const auto config = [&] { return loaded ? loaded->config : o.model_config(tokenizer.vocab_size()); };
    if (!s.fits_run()) {
        fit_steps(budget, 0, config(), s);
        return std::nullopt;
    }
    budget = fit_sizes(budget, loaded ? &loaded->config : nullptr, s);
    FittedPlan plan{config(), budget};
    check_memory(o, plan.architecture, static_cast<double>(budget.tokens));
    if (!s.given.contains("max-iters") && budget.operations == 0) {
        const double time = 0.03 * budget.seconds;
        plan.seconds_per_step = loaded ? seconds_per_step(o, *loaded, tokenizer, tokens, time)
                                       : seconds_per_step(o, plan.architecture, tokenizer, tokens, time);
    }
    fit_steps(budget, plan.seconds_per_step, plan.architecture, s);
    if (plan.seconds_per_step > 0)  // the time limit may end the run
        o.plan.adjustable = o.max_time > 0 && static_cast<double>(o.max_iters) * plan.seconds_per_step > o.max_time;
    fit_to_steps(budget, s);
    return plan;
}

void change_softcap(const RunSettings& s, models::Architecture& config) {
    if (!s.given.contains("softcap") || s.options.softcap < 0) return;
    if (s.options.softcap > 0 && !models::family(config.family).has_flag("softcap"))
        throw WrongSetting(fmt::format("--softcap is not for --arch {}: leave it out", config.family));
    config.softcap = s.options.softcap;
}

void take_adapter(const models::AdapterOptions& adapter, RunSettings& s) {
    TrainOptions loaded = s.options;
    loaded.lora_rank = adapter.rank;
    loaded.lora_alpha = adapter.alpha;
    loaded.rs_lora = adapter.rank_stabilized;
    if (!s.has("lora-dropout")) loaded.lora_dropout = adapter.dropout;
    take_over(loaded, "adapter", s);
}

void check_targets(const models::Architecture& config, const TrainOptions& options) {
    if (options.lora_rank > 0) about_settings([&] { return models::adapter_targets(config, options.lora_targets); });
}

void fit_base_precision(const fs::path& base, RunSettings& s) {
    if (s.options.lora_rank > 0 && !s.given.contains("base-precision") &&
        models::usual_weights(base) == WeightType::q8_0)
        s.options.base_precision = WeightType::q8_0;
}

void take_shape(const models::Architecture& config, bool chosen, RunSettings& s) {
    TrainOptions& options = s.options;
    if (s.has("block-size") && options.block_size > config.block_size)
        throw WrongSetting(
            fmt::format("--block-size must be at most {}, the context of the model that is loaded, got {}",
                        config.block_size, options.block_size));
    options.block_size = chosen ? std::min(options.block_size, config.block_size) : config.block_size;
    TrainOptions loaded = options;
    loaded.arch = config.family;
    loaded.n_layer = config.n_layer, loaded.n_head = config.n_head, loaded.n_embd = config.n_embd;
    // sets the others only where the model differs from the default, which is in `shape`
    const models::Architecture shape = loaded.model_config(1);
    if (shape.kv_heads() != config.kv_heads()) loaded.n_kv_head = config.kv_heads();
    if (shape.inner() != config.inner()) loaded.n_inner = config.inner();
    if (shape.head_size() != config.head_size()) loaded.head_dim = config.head_size();
    if (shape.rope_theta != config.rope_theta) loaded.rope_theta = config.rope_theta;
    if (shape.softcap != config.softcap) loaded.softcap = config.softcap;
    if (models::family(config.family).defaults(options.bias).qkv_bias != config.qkv_bias)  // Qwen 2 always has them
        loaded.bias = config.qkv_bias;
    take_over(loaded, "model", s);
}

}  // namespace inkling::train

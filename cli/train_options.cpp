#include "cli/train_options.h"

#include <algorithm>

#include "formats/file.h"
#include "models/families/family.h"
#include "models/folder.h"
#include "train/checkpoint.h"
#include "train/pace.h"
#include "train/plan.h"
#include "train/run_folder.h"

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

void validate(const TrainOptions& options) {
    try {
        options.validate();
    } catch (const Error& e) {
        throw Usage(e.what());
    }
}

}  // namespace

Resume find_resume(const TrainArguments& args) {
    TrainOptions options;
    if (!args.config.empty()) read_toml(args.config, options);
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

bool fits_itself(const std::string& recipe) { return recipe == "fast" || recipe == "stories"; }

Settings resolve(const TrainArguments& args, const Resume& resume) {
    Settings s;
    const bool resumed = !resume.candidates.empty();
    if (resumed) {
        read_own_settings(resume, s.options);
        if (!resume.run.empty()) s.options.out = resume.run.string();  // it may have been moved
    }
    const auto names = train::recipe_names();
    if (!args.recipe.empty() && std::find(names.begin(), names.end(), args.recipe) == names.end())
        throw Usage(fmt::format("--recipe must be one of {}, got '{}'", fmt::join(names, ", "), args.recipe));
    if (!args.recipe.empty() && !(resumed && fits_itself(args.recipe))) {  // what it chose at first holds
        s.recipe = args.recipe;
    } else if (!resumed && args.config.empty()) {
        s.recipe = args.given.data.empty() ? "stories" : "fast";
    }
    if (!s.recipe.empty()) s.options = train::recipe(s.recipe);
    if (!args.config.empty()) s.given = read_toml(args.config, s.options);
    TrainOptions::visit(s.options, [&](const std::string& flag, auto& field, const char*) {
        TrainOptions::visit(args.given, [&](const std::string& other, const auto& value, const char*) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::decay_t<decltype(field)>>) {
                if (flag != other || !args.has(flag)) return;
                field = value;
                s.given.insert(flag);
            }
        });
    });
    if (fits_itself(s.recipe)) train::fit_given(s.given, s.options);
    if (args.has("vocab-size") && s.options.tokenizer != "bpe")
        throw Usage(fmt::format("--vocab-size is for --tokenizer bpe, got --tokenizer {}", s.options.tokenizer));
    validate(s.options);
    return s;
}

train::Budget fit_sizes(std::size_t tokens, bool has_shape, Settings& s) {
    TrainOptions& o = s.options;
    if (!s.given.contains("precision")) o.precision = has_fast_bf16() ? "bf16" : "fp32";
    train::Budget budget;
    budget.tokens = tokens;
    if (o.max_time > 0) {
        budget.seconds = o.max_time;
        budget.gflops = train::product_gflops(precision_named(o.precision));
    }
    train::fit(budget, has_shape || s.recipe == "stories", s.given, o);
    validate(o);
    return budget;
}

std::string fit_recipe(const data::Tokenizer& tokenizer, std::span<const std::int32_t> tokens, bool has_shape,
                       Settings& s) {
    if (!fits_itself(s.recipe)) return "";
    TrainOptions& o = s.options;
    const train::Budget budget = fit_sizes(tokens.size(), has_shape, s);
    train::check_memory(o, tokenizer.vocab_size(), static_cast<double>(tokens.size()));
    if (!s.given.contains("max-iters")) {
        const double step = train::seconds_per_step(o, tokenizer, tokens, 0.03 * budget.seconds);
        o.max_iters = train::steps_within(budget, step, o);
    }
    train::fit_to_steps(s.given, o);
    return fmt::format("{}, {}, width {}, {}; {} of {} of {}", counted(o.n_layer, "layer"), counted(o.n_head, "head"),
                       o.n_embd, o.precision, counted(o.max_iters, "step"), counted(o.batch_size, "sequence"),
                       counted(o.block_size, "token"));
}

void take_shape(const TrainArguments& args, const models::Architecture& config, TrainOptions& options) {
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
    take("block-size", options.block_size, config.block_size);
    take("bias", options.bias, config.qkv_bias);
}

}  // namespace inkling::cli

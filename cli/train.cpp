// inkling train
#include <cmath>
#include <csignal>
#include <map>
#include <set>

#include "cli/common.h"
#include "data/bpe_train.h"
#include "data/char_tokenizer.h"
#include "data/corpus.h"
#include "data/stories.h"
#include "data/tokenizer_json.h"
#include "models/folder.h"
#include "nn/init.h"
#include "train/pace.h"
#include "train/recipes.h"
#include "train/trainer.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using train::TrainOptions;

constexpr std::uint64_t kStoriesSeed = 1;
constexpr std::size_t kStoriesBytes = 8'000'000;

struct Arguments {
    TrainOptions given;  // what the flags say, where they are given
    std::string recipe, config;
    std::map<std::string, CLI::Option*> flags;

    bool has(const std::string& flag) const { return flags.at(flag)->count() > 0; }
};

struct Settings {
    TrainOptions options;
    std::string recipe;           // "" when there is none
    std::set<std::string> given;  // flags, and keys of --config as flags

    bool fits_itself() const { return recipe == "fast" || recipe == "stories"; }  // see fit_recipe
};

void validate(const TrainOptions& options) {
    try {
        options.validate();
    } catch (const Error& e) {
        throw Usage(e.what());
    }
}

// Command line over config file over recipe over default. A resumed run starts from its own settings, whatever the
// recipe.
Settings resolve(const Arguments& args, const fs::path& checkpoint) {
    Settings s;
    const auto names = train::recipe_names();
    if (!args.recipe.empty() && std::find(names.begin(), names.end(), args.recipe) == names.end())
        throw Usage(fmt::format("--recipe must be one of {}, got '{}'", fmt::join(names, ", "), args.recipe));
    const fs::path own_config = checkpoint.empty() ? "" : checkpoint.parent_path() / "config.toml";
    if (fs::exists(own_config)) {
        read_toml(own_config, s.options);
    } else if (!args.recipe.empty()) {
        s.recipe = args.recipe;
    } else if (args.config.empty() && checkpoint.empty()) {
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
    if (s.fits_itself()) train::fit_given(s.given, s.options);
    if (args.has("vocab-size") && s.options.tokenizer != "bpe")
        throw Usage(fmt::format("--vocab-size is for --tokenizer bpe, got --tokenizer {}", s.options.tokenizer));
    validate(s.options);
    return s;
}

// A recipe that fits itself, once the text is known: sizes from the time and the machine's speed, and the number of
// steps from trying some. Without a limit of time no clock is asked, so that the same flags give the same run.
void fit_recipe(const data::Tokenizer& tokenizer, std::span<const std::int32_t> tokens, bool has_shape, Settings& s) {
    TrainOptions& o = s.options;
    const double fp32 = train::product_gflops(Precision::fp32), bf16 = train::product_gflops(Precision::bf16);
    if (!s.given.contains("precision")) o.precision = bf16 > 1.2 * fp32 ? "bf16" : "fp32";
    train::Budget budget;
    budget.tokens = tokens.size();
    if (o.max_time > 0) budget.seconds = o.max_time, budget.gflops = o.precision == "bf16" ? bf16 : fp32;
    train::fit(budget, has_shape || s.recipe == "stories", s.given, o);
    validate(o);
    if (!s.given.contains("max-iters")) {
        const double step = train::seconds_per_step(o, tokenizer, tokens, 0.03 * budget.seconds);
        o.max_iters = train::steps_within(budget, step, o);
    }
    train::fit_to_steps(s.given, o);
}

std::string fitted_note(const TrainOptions& o) {
    return fmt::format("{} layers, {} heads, {} wide, {}; {} steps of {} windows of {} tokens", o.n_layer, o.n_head,
                       o.n_embd, o.precision, o.max_iters, o.batch_size, o.block_size);
}

// The checkpoints that --resume may go on from, the newest first; none: start anew.
std::vector<fs::path> resume_candidates(const TrainOptions& given) {
    if (given.resume.empty()) return {};
    if (given.resume != "auto") return {models::find_model(given.resume)};
    return train::find_checkpoints(given.out);
}

// The model's shape is the folder's; flags that say otherwise are refused.
void take_shape(const Arguments& args, const models::GPTConfig& config, TrainOptions& options) {
    const auto take = [&](const char* flag, auto& field, auto value) {
        if (args.has(flag) && field != value) {
            throw Usage(
                fmt::format("--{} is {} in the model that is loaded, got {}: leave the flag out", flag, value, field));
        }
        field = value;
    };
    take("arch", options.arch, models::arch_name(config.arch));
    take("n-layer", options.n_layer, config.n_layer);
    take("n-head", options.n_head, config.n_head);
    if (options.n_kv_head == config.n_head) options.n_kv_head = 0;
    take("n-kv-head", options.n_kv_head, config.n_kv_head);
    take("n-embd", options.n_embd, config.n_embd);
    take("block-size", options.block_size, config.block_size);
    take("bias", options.bias, config.bias);
}

data::Corpus built_in_corpus() {
    data::Corpus corpus;
    corpus.text = data::generate_stories(kStoriesSeed, kStoriesBytes);
    corpus.text.pop_back();  // one line end is enough: two, with no story behind, would be a token of their own
    corpus.starts = {0};
    return corpus;
}

std::unique_ptr<data::Tokenizer> make_tokenizer(const TrainOptions& options, const data::Corpus& corpus) {
    if (options.tokenizer == "char")
        return std::make_unique<data::CharTokenizer>(data::CharTokenizer::from_text(corpus.text));
    if (options.tokenizer == "bpe")
        return std::make_unique<data::BpeTokenizer>(data::train_bpe(corpus.documents(), options.vocab_size));
    return data::load_tokenizer(options.tokenizer);
}

int train_model(const Arguments& args) {
    train::Report report;
    const auto candidates = resume_candidates(args.given);
    Settings settings = resolve(args, candidates.empty() ? fs::path() : candidates.front());
    TrainOptions& options = settings.options;
    const std::size_t threads = set_threads(options.threads);
    const bool built_in = options.data.empty();
    const data::Corpus corpus = built_in ? built_in_corpus() : data::read_corpus(options.data);
    if (const std::string note = corpus.skipped_note(); !note.empty()) report.warn(note);

    nn::default_generator() = {options.seed, 0};
    models::LoadedModel loaded;
    std::vector<std::int32_t> tokens;
    std::unique_ptr<train::Trainer> trainer;
    const auto prepare = [&] {
        if (loaded.model) take_shape(args, loaded.model->config, options);
        tokens = data::encode_documents(*loaded.tokenizer, corpus.documents());
        if (settings.fits_itself()) {
            fit_recipe(*loaded.tokenizer, tokens, loaded.model != nullptr, settings);
            report.note(fitted_note(options));
        }
        if (!loaded.model)
            loaded.model = models::make_model<float>(options.model_config(loaded.tokenizer->vocab_size()));
        trainer = std::make_unique<train::Trainer>(options, *loaded.model, *loaded.tokenizer, tokens, report);
    };
    fs::path checkpoint;
    for (const fs::path& candidate : candidates) {  // the newest that is whole
        try {
            loaded = models::load_model(candidate, options.dropout);
            prepare();
            trainer->resume(candidate);
            checkpoint = candidate;
            break;
        } catch (const BadInput& e) {
            trainer.reset();
            if (candidate == candidates.back()) throw;
            report.warn(std::string(e.what()) + ": trying the checkpoint before");
        }
    }
    if (checkpoint.empty()) {
        if (!options.init_from.empty()) {
            loaded = models::load_model(models::find_model(options.init_from), options.dropout);
        } else {
            loaded.tokenizer = make_tokenizer(options, corpus);
        }
        prepare();
    }

    train::RunFolder folder(options.out);
    if (checkpoint.empty() && folder.holds_run()) {
        if (!options.overwrite) {
            throw Usage(
                fmt::format("{} already holds a run: go on with --resume auto, replace it with --overwrite, or choose "
                            "another --out",
                            options.out));
        }
        folder.clear();
    }
    report.note(fmt::format(
        "{:.2f}M parameters, {} tokens of {} kinds ({}), {} threads, seed {}",
        static_cast<double>(loaded.model->parameter_count()) / 1e6, tokens.size(), loaded.tokenizer->vocab_size(),
        built_in ? "the built-in stories" : fmt::format("{}", fmt::join(options.data, ", ")), threads, options.seed));
    if (built_in) {
        report.note(
            fmt::format("the stories' own entropy, below which no validation loss can go: {:.4f} nats a character",
                        data::stories_entropy().nats_per_char));
    }
    if (!checkpoint.empty())
        report.note(fmt::format("going on from {}, step {}", checkpoint.string(), trainer->state().step));

    const std::atomic<int>& signal = catch_signals();
    trainer->run(&folder, &signal);
    if (signal != 0) {
        report.note(fmt::format("stopped at step {}; saved in {}; go on with --resume auto", trainer->state().step,
                                (folder.path() / "latest").string()));
        return 128 + signal;
    }
    report.note(fmt::format("saved in {}; write text with: inkling generate --model {}",
                            (folder.path() / "latest").string(), options.out));
    return 0;
}

}  // namespace

Action add_train(CLI::App& app) {
    auto args = std::make_shared<Arguments>();
    app.add_option("--recipe", args->recipe,
                   fmt::format("named settings, which other flags override: {}; none: stories without data, else fast",
                               fmt::join(train::recipe_names(), ", ")));
    app.add_option("--config", args->config, "settings from a TOML file, such as a run's config.toml");
    TrainOptions::visit(args->given, [&](const std::string& flag, auto& field, const char* help) {
        using Field = std::decay_t<decltype(field)>;
        CLI::Option*& option = args->flags[flag];
        if constexpr (std::is_same_v<Field, bool>) {
            option = app.add_flag("--" + flag + ",!--no-" + flag, field, help);
        } else {
            option = app.add_option("--" + flag, field, help)->capture_default_str();
            if constexpr (std::is_same_v<Field, std::vector<std::string>>)
                option->take_all()->expected(1)->allow_extra_args(false);
        }
    });
    return [args] { return train_model(*args); };
}

}  // namespace inkling::cli

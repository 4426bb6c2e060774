// inkling train
#include <cmath>
#include <csignal>
#include <map>
#include <optional>

#include "cli/common.h"
#include "data/bpe_train.h"
#include "data/char_tokenizer.h"
#include "data/corpus.h"
#include "data/stories.h"
#include "data/tokenizer_json.h"
#include "models/folder.h"
#include "nn/init.h"
#include "train/trainer.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using train::TrainOptions;

constexpr std::uint64_t kStoriesSeed = 1;
constexpr std::size_t kStoriesBytes = 2'000'000;

struct Arguments {
    TrainOptions given;  // what the flags say, where they are given
    std::string recipe, config;
    bool force = false;
    std::map<std::string, CLI::Option*> flags;

    bool has(const std::string& flag) const { return flags.at(flag)->count() > 0; }
};

// What --resume asks for.
struct Resume {
    fs::path run;                      // the folder of the run; empty: not known
    std::vector<fs::path> candidates;  // checkpoints that may be gone on from, the newest first; none: start anew
};

Resume find_resume(const Arguments& args) {
    TrainOptions options;
    if (!args.config.empty()) read_toml(args.config, options);
    if (args.has("out")) options.out = args.given.out;
    const std::string& from = args.given.resume;
    if (from.empty()) return {};
    if (from == "auto") return {options.out, train::find_checkpoints(options.out)};
    Resume resume{from, train::find_checkpoints(from)};
    if (!resume.candidates.empty()) return resume;
    const fs::path checkpoint = fs::weakly_canonical(models::find_model(from));  // `latest` is a link
    const bool named_as_one = train::is_checkpoint(checkpoint.filename().string());
    return {named_as_one ? checkpoint.parent_path() : fs::path(), {checkpoint}};
}

// A resumed run starts from its own settings: those of its folder, which may be newer, else of a checkpoint.
void read_own_settings(const Resume& resume, TrainOptions& options) {
    if (!resume.run.empty() && fs::exists(resume.run / "config.toml"))
        return read_toml(resume.run / "config.toml", options);
    for (const fs::path& candidate : resume.candidates) {
        try {
            return train::parse_toml(train::stored_config(candidate), candidate.string(), options);
        } catch (const BadInput&) {  // said when it is tried
        }
    }
}

// Command line over config file over recipe over default.
TrainOptions resolve(const Arguments& args, const Resume& resume) {
    TrainOptions options;
    const bool resumed = !resume.candidates.empty();
    if (resumed) {
        read_own_settings(resume, options);
        if (!resume.run.empty()) options.out = resume.run.string();  // it may have been moved
    }
    if (!args.recipe.empty()) {
        if (const auto names = train::recipe_names(); std::find(names.begin(), names.end(), args.recipe) == names.end())
            throw Usage(fmt::format("--recipe must be one of {}, got '{}'", fmt::join(names, ", "), args.recipe));
        options = train::recipe(args.recipe);
    } else if (!resumed && args.given.data.empty() && args.config.empty()) {
        options = train::recipe("stories");
    }
    if (!args.config.empty()) read_toml(args.config, options);
    TrainOptions::visit(options, [&](const std::string& flag, auto& field, const char*) {
        TrainOptions::visit(args.given, [&](const std::string& other, const auto& value, const char*) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::decay_t<decltype(field)>>) {
                if (flag == other && args.has(flag)) field = value;
            }
        });
    });
    if (args.has("vocab-size") && options.tokenizer != "bpe")
        throw Usage(fmt::format("--vocab-size is for --tokenizer bpe, got --tokenizer {}", options.tokenizer));
    try {
        options.validate();
    } catch (const Error& e) {
        throw Usage(e.what());
    }
    return options;
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
    if ((options.n_kv_head ? options.n_kv_head : config.n_head) != config.kv_heads())
        take("n-kv-head", options.n_kv_head, config.kv_heads());
    take("n-embd", options.n_embd, config.n_embd);
    take("block-size", options.block_size, config.block_size);
    take("bias", options.bias, config.bias);
}

data::Corpus built_in_corpus() {
    data::Corpus corpus;
    corpus.text = data::generate_stories(kStoriesSeed, kStoriesBytes);
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

// A tokenizer that is named must be the checkpoint's, which is the one that is used.
void check_tokenizer(const TrainOptions& options, const data::Tokenizer& own, const fs::path& checkpoint, bool force) {
    if (options.tokenizer == "char" || options.tokenizer == "bpe" || !fs::exists(options.tokenizer) || force) return;
    if (data::load_tokenizer(options.tokenizer)->to_json() == own.to_json()) return;
    throw train::Mismatch(
        fmt::format("{}: was trained with another tokenizer than {} holds: undo that, or go on with "
                    "the checkpoint's own by --force",
                    checkpoint.string(), options.tokenizer));
}

int train_model(const Arguments& args) {
    std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: no reason to stop
    train::Report report;
    const Resume resume = find_resume(args);
    TrainOptions options = resolve(args, resume);
    const std::size_t threads = set_threads(options.threads);
    std::optional<train::RunFolder> folder;
    if (!resume.candidates.empty() && fs::exists(options.out)) folder.emplace(options.out);  // nobody else's from here
    const bool built_in = options.data.empty();
    const data::Corpus corpus = built_in ? built_in_corpus() : data::read_corpus(options.data);
    if (const std::string note = corpus.skipped_note(); !note.empty()) report.warn(note);

    nn::default_generator() = {options.seed, 0};
    models::LoadedModel loaded;
    std::vector<std::int32_t> tokens;
    std::unique_ptr<train::Trainer> trainer;
    const auto prepare = [&](const fs::path& from) {
        if (loaded.model) take_shape(args, loaded.model->config, options);
        try {
            tokens = data::encode_documents(*loaded.tokenizer, corpus.documents());
        } catch (const BadInput& e) {
            if (from.empty()) throw;
            throw train::Mismatch(fmt::format("{}: was trained on another text: {}", from.string(), e.what()));
        }
        if (!loaded.model)
            loaded.model = models::make_model<float>(options.model_config(loaded.tokenizer->vocab_size()));
        trainer = std::make_unique<train::Trainer>(options, *loaded.model, *loaded.tokenizer, tokens, report);
    };
    fs::path checkpoint;
    for (const fs::path& candidate : resume.candidates) {  // the newest that is whole
        try {
            loaded = models::load_model(candidate, options.dropout);
            check_tokenizer(options, *loaded.tokenizer, candidate, args.force);
            prepare(candidate);
            trainer->resume(candidate, args.force);
            checkpoint = candidate;
            break;
        } catch (const train::Mismatch&) {
            throw;
        } catch (const BadInput& e) {
            trainer.reset();
            if (candidate == resume.candidates.back()) throw;
            report.warn(std::string(e.what()) + ": trying the checkpoint before");
        }
    }
    if (checkpoint.empty()) {
        if (!options.init_from.empty()) {
            loaded = models::load_model(models::find_model(options.init_from), options.dropout);
        } else {
            loaded.tokenizer = make_tokenizer(options, corpus);
        }
        prepare("");
    }

    if (!folder) folder.emplace(options.out);
    const bool own = !checkpoint.empty() && fs::equivalent(checkpoint.parent_path(), folder->path());
    if (!own && folder->holds_run()) {
        if (!options.overwrite) {
            throw Usage(
                fmt::format("{} already holds a run: go on with --resume auto, replace it with --overwrite, or choose "
                            "another --out",
                            options.out));
        }
        folder->clear();
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
    trainer->run(&*folder, &signal);
    if (signal != 0) {
        report.note(fmt::format("stopped at step {}; saved in {}; go on with --resume auto", trainer->state().step,
                                (folder->path() / "latest").string()));
        return 128 + signal;
    }
    report.note(fmt::format("saved in {}; write text with: inkling generate --model {}",
                            (folder->path() / "latest").string(), options.out));
    return 0;
}

}  // namespace

Action add_train(CLI::App& app) {
    auto args = std::make_shared<Arguments>();
    app.add_option("--recipe", args->recipe,
                   fmt::format("named settings, which other flags override: {}; without data: stories",
                               fmt::join(train::recipe_names(), ", ")));
    app.add_option("--config", args->config, "settings from a TOML file, such as a run's config.toml");
    app.add_flag("--force", args->force, "go on from a checkpoint of another text, tokenizer or other settings");
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

// inkling train
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/data_argument.h"
#include "cli/dry_run.h"
#include "cli/ending.h"
#include "cli/json_lines.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/train_flags.h"
#include "cli/train_options.h"
#include "cli/unknown_flag.h"
#include "data/corpus.h"
#include "data/encoded_corpus.h"
#include "data/stories/stories.h"
#include "data/tokenizers/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/tokenizer_json.h"
#include "engine/clock.h"
#include "formats/file.h"
#include "formats/named.h"
#include "models/folder.h"
#include "train/estimate.h"
#include "train/loop.h"
#include "train/observers.h"
#include "train/recipes.h"
#include "train/resume.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using train::TrainOptions;

constexpr std::uint64_t kStoriesSeed = 1;
constexpr std::size_t kStoriesBytes = 8'000'000;

data::Corpus built_in_corpus() {
    data::Corpus corpus;
    std::string text = data::generate_stories(kStoriesSeed, kStoriesBytes);
    text.pop_back();  // one line end is enough: two, with no story behind, would be a token of their own
    corpus.add(std::move(text), "the built-in stories");
    return corpus;
}

// The first `part` of texts, in bytes and whole characters: byte pairs that are learnt from the validation part would
// make its loss lower than that of other texts.
std::vector<std::string_view> beginning(const std::vector<std::string_view>& texts, double part) {
    std::size_t all = 0;
    for (const std::string_view text : texts) all += text.size();
    auto left = static_cast<std::size_t>(std::ceil(static_cast<double>(all) * part));
    std::vector<std::string_view> first;
    for (const std::string_view text : texts) {
        if (left == 0) break;
        std::size_t end = std::min(left, text.size());
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
        first.push_back(text.substr(0, end));
        left -= std::min(left, end);
    }
    return first;
}

std::unique_ptr<data::Tokenizer> make_tokenizer(const TrainOptions& options, const data::Corpus& corpus) {
    const auto kind = find_named<data::TokenizerKind>(options.tokenizer);
    if (kind == data::TokenizerKind::characters) {
        std::vector<std::string_view> texts = corpus.documents;
        if (texts.size() > 1) texts.push_back("\n");  // what joins them: see encoded_corpus.h
        return std::make_unique<data::CharTokenizer>(data::CharTokenizer::from_texts(texts, options.byte_fallback));
    }
    if (kind == data::TokenizerKind::byte_pairs)
        return std::make_unique<data::BpeTokenizer>(
            data::train_bpe(beginning(corpus.documents, 1 - options.val_fraction), options.vocab_size));
    if (!formats::is_there(options.tokenizer)) {
        throw BadInput(
            fmt::format("--tokenizer {}: there is no such file: char, bpe, a tokenizer.json or a model "
                        "folder is required",
                        options.tokenizer));
    }
    return models::open_tokenizer(options.tokenizer);
}

// A tokenizer that is named must be the checkpoint's, which is the one that is used.
void check_tokenizer(const TrainOptions& options, const data::Tokenizer& own, const fs::path& checkpoint, bool force) {
    const bool is_kind = find_named<data::TokenizerKind>(options.tokenizer).has_value();
    if (is_kind || !formats::is_there(options.tokenizer) || force) return;
    if (models::open_tokenizer(options.tokenizer)->to_json() == own.to_json()) return;
    throw train::Mismatch(
        fmt::format("{}: was trained with another tokenizer than {} holds: undo that, or go on with "
                    "the checkpoint's own by --force",
                    checkpoint.string(), options.tokenizer));
}

// A run that is already in --out, and not the one that goes on, is left alone unless --overwrite is given.
void check_place(const TrainOptions& options, const Resume& resume) {
    if (!train::holds_run(options.out) || options.overwrite) return;
    if (!resume.candidates.empty() && fs::exists(resume.run) && fs::equivalent(resume.run, options.out)) return;
    const bool nothing_saved = options.resume == "auto" && train::find_checkpoints(options.out).empty();
    if (nothing_saved) return;  // it ended before its first checkpoint: `auto` begins anew
    throw Usage(fmt::format(
        "{} already holds a run: go on with --resume auto, replace it with --overwrite, or choose another --out",
        options.out));
}

// Everything that a run needs, made in this order.
struct Prepared {
    data::Corpus corpus;
    models::LoadedModel loaded;
    data::EncodedCorpus tokens;
    std::unique_ptr<train::TrainingLoop> loop;
    fs::path checkpoint;            // gone on from; empty: none
    std::vector<fs::path> damaged;  // newer than that
};

class Preparation {
  public:
    Preparation(const TrainArguments& args, Settings& settings, Report& report)
        : args_(args), settings_(settings), options_(settings.options), report_(report) {}

    // The newest of the candidates that is whole, else a new model.
    void prepare(Prepared& run, const Resume& resume) const {
        for (const fs::path& candidate : resume.candidates) {
            try {
                run.loaded = models::load_model(candidate, options_.dropout);
                check_tokenizer(options_, *run.loaded.tokenizer, candidate, args_.force);
                make_loop(run, candidate);
                const std::string changes = train::resume(*run.loop, candidate, args_.force);
                if (!changes.empty()) report_.warn(changes);
                run.checkpoint = candidate;
                return;
            } catch (const train::Mismatch&) {
                throw;
            } catch (const BadInput& e) {
                run.loop.reset();
                if (candidate == resume.candidates.back()) throw;
                run.damaged.push_back(candidate);
                report_.warn(std::string(e.what()) + ": trying the checkpoint before");
            }
        }
        if (!options_.init_from.empty()) {
            run.loaded = models::load_model(models::find_model(options_.init_from), options_.dropout);
        } else {
            fit_tokenizer(run.corpus.bytes(), settings_);
            run.loaded = {nullptr, make_tokenizer(options_, run.corpus)};
        }
        make_loop(run, "");
    }

  private:
    void make_loop(Prepared& run, const fs::path& candidate) const {
        if (run.loaded.model) take_shape(args_, run.loaded.model->config, options_);
        take_unknown(*run.loaded.tokenizer, options_.strict_vocabulary);
        try {
            run.tokens =
                data::encode_corpus(*run.loaded.tokenizer, run.corpus.documents,
                                    {.name = [&](std::size_t i) { return run.corpus.source_of(i); },
                                     .cache = options_.out,
                                     .progress = [this](auto done, auto all) { report_.encoding(done, all); }});
        } catch (const BadInput& e) {
            if (candidate.empty()) throw;
            throw train::Mismatch(fmt::format("{}: was trained on another text: {}", candidate.string(), e.what()));
        }
        formats::named(run.corpus.name(), [&] {
            const data::Tokenizer& tokenizer = *run.loaded.tokenizer;
            const data::TokenView ids = run.tokens.ids;
            auto& model = run.loaded.model;
            const std::string chosen = fit_recipe(tokenizer, ids, model ? &model->config : nullptr, settings_);
            if (!chosen.empty()) report_.note(chosen);
            train::check_memory(options_, model ? model->config : options_.model_config(tokenizer.vocab_size()),
                                static_cast<double>(ids.size()));
            if (!model) model = new_model(tokenizer, ids);
            run.loop = std::make_unique<train::TrainingLoop>(options_, *model, ids, &tokenizer);
        });
    }

    std::unique_ptr<models::Transformer<float>> new_model(const data::Tokenizer& tokenizer, data::TokenView ids) const {
        models::Architecture config = options_.model_config(tokenizer.vocab_size());
        const auto end = tokenizer.end_of_text();
        config.has_bos = end && std::find(ids.begin(), ids.end(), *end) != ids.end();
        return std::make_unique<models::Transformer<float>>(config, Generator{options_.seed});
    }

    const TrainArguments& args_;
    Settings& settings_;
    TrainOptions& options_;
    Report& report_;
};

int train_model(const TrainArguments& args) {
    const double start = seconds_now();
    std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: no reason to stop
    Report report(args.quiet || (args.json && isatty(STDOUT_FILENO)));  // a terminal shows one of them
    const Resume resume = find_resume(args);
    Settings settings = resolve(args, resume);
    TrainOptions& options = settings.options;
    const std::size_t threads = set_threads(options.threads);
    if (!args.dry_run) check_place(options, resume);
    std::optional<train::RunFolder> folder;
    if (!args.dry_run && !resume.candidates.empty() && fs::exists(options.out))
        folder.emplace(options.out);  // nobody else's from here
    const bool built_in = options.data.empty();
    Prepared run;
    run.corpus = built_in ? built_in_corpus() : data::read_corpus(options.data, options.text);
    for (const std::string& note : run.corpus.notes()) report.note(note);

    if (args.dry_run) return print_estimate(args, settings, run.corpus, threads);
    Preparation(args, settings, report).prepare(run, resume);
    for (const std::string& prompt : options.sample_prompt) {  // what the model cannot read is said before it trains
        check_utf8({prompt, "--sample-prompt"});
        formats::named("--sample-prompt", [&] { run.loaded.tokenizer->encode(prompt); });
    }
    run.corpus = {};  // large texts need not stay in memory

    if (!folder) folder.emplace(options.out);
    check_place(options, resume);  // nothing has come there in the meantime
    const fs::path& checkpoint = run.checkpoint;
    if (!checkpoint.empty() && fs::equivalent(checkpoint.parent_path(), folder->path())) {
        folder->mend(checkpoint, run.damaged);
    } else {
        folder->clear();
    }
    const std::uint64_t parameters = run.loaded.model->parameter_count();
    report.note(fmt::format("{} parameters, {} tokens, vocabulary {} ({}), {}, seed {}",
                            parameters < 10'000 ? fmt::format("{}", parameters)
                                                : fmt::format("{:.2f}M", static_cast<double>(parameters) / 1e6),
                            run.tokens.ids.size(), run.loaded.tokenizer->vocab_size(),
                            built_in ? "the built-in stories" : fmt::format("{}", fmt::join(options.data, ", ")),
                            counted(threads, "thread"), options.seed));
    if (const auto& unknown = run.loaded.tokenizer->unknown; unknown && unknown->tally().characters > 0)
        report.warn(unknown->note());
    if (built_in) {
        const double a_char = data::stories_entropy().nats_per_char;
        const double chars = static_cast<double>(run.tokens.bytes) / static_cast<double>(run.tokens.ids.size());
        report.note(fmt::format(
            "the entropy of the stories, the lowest possible loss: {:.4f} nats per token, {:.4f} per character",
            a_char * chars, a_char));
    }
    train::TrainingLoop& loop = *run.loop;
    if (!checkpoint.empty()) {
        const train::TrainOptions& o = loop.options();
        const bool stretched = o.replan_step == loop.state().step && o.max_iters > o.planned_iters;
        report.note(fmt::format("going on from {}, step {}", checkpoint.string(), loop.state().step) +
                    (stretched
                         ? fmt::format(": {} steps, {} before; the learning rate rises again to {:.2g}", o.max_iters,
                                       o.planned_iters,
                                       train::schedule_of(o).at(o.replan_step + (o.max_iters - o.replan_step) / 20))
                         : ""));
    }
    if (loop.eval_tokens() < loop.text().val.size())
        report.note(fmt::format("validation: {} of {} tokens, {} at the end", loop.eval_tokens(),
                                loop.text().val.size(), loop.eval_tokens_at_end()));

    const std::atomic<int>& signal = catch_signals();
    const data::Tokenizer& tokenizer = *run.loaded.tokenizer;
    train::CheckpointSaver checkpoints(*folder, tokenizer, loop);
    train::MetricsFile metrics(folder->path() / "metrics.jsonl", loop.state().step);
    JsonLines json;
    const auto take_sample = [&](const std::string& prompt, const std::string& text) {
        report.sample(prompt + text);
        if (args.json) json.sample(loop, prompt, text);
    };
    train::SampleWriter samples(tokenizer, take_sample);
    std::vector<train::Observer*> observers = {&metrics, &report, &checkpoints, &samples};
    if (args.json) {
        json.plan(plan_json(loop.options(), parameters, run.tokens.ids.size(), tokenizer.vocab_size(), threads));
        observers.push_back(&json);
    }
    if (loop.finished()) {
        report.note(
            loop.stop_reason() == train::StopReason::patience
                ? fmt::format("nothing to do: the validation loss has not improved since step {}: go on all the "
                              "same with --patience 0",
                              loop.state().best_step)
                : fmt::format("nothing to do: step {} of {} is reached", loop.state().step, loop.options().max_iters));
    }
    loop.run(observers, [&signal] { return signal != 0; });
    if (signal != 0) {
        report.note(fmt::format("stopped at step {}; saved in {}; go on with --resume auto", loop.state().step,
                                (folder->path() / "latest").string()));
        if (args.json) json.end(loop, folder->path());
        return 128 + signal;
    }
    tell_ending(report, loop, tokenizer, seconds_now() - start, take_sample);
    if (args.json) json.end(loop, folder->path());
    return 0;
}

}  // namespace

Action add_train(CLI::App& app) {
    auto args = std::make_shared<TrainArguments>();
    app.formatter(std::make_shared<Help>(kTrainFlags));
    app.set_help_all_flag("--help-all", "explain every flag");
    args->given = train::recipe("fast").options;  // the defaults that --help shows
    app.add_option(
        "--recipe", args->recipe,
        fmt::format("named settings, which other flags override: {}; default: stories without --data, else fast",
                    fmt::join(train::recipe_names(), ", ")));
    app.add_option("--config", args->config, "settings from a TOML file, such as a run's config.toml");
    app.add_flag("--dry-run", args->dry_run, "print the parameters, memory, work and time of the run, and stop");
    app.add_flag("--json", args->json, "print what happens on stdout, one JSON object a line");
    app.add_flag("--quiet", args->quiet, "say nothing on stderr but warnings and errors");
    app.add_flag("--force", args->force, "resume even if the text, the tokenizer or settings have changed");
    TrainOptions::visit(args->given, [&](const std::string& flag, auto& field, const char* help) {
        using Field = std::decay_t<decltype(field)>;
        CLI::Option*& option = args->flags[flag];
        if constexpr (std::is_same_v<Field, bool>) {
            option = app.add_flag("--" + flag + ",!--no-" + flag, field, help)->default_str(field ? kOn : "");
        } else if constexpr (std::is_enum_v<Field>) {
            const auto read = [&field, flag](const std::string& name) {
                try {
                    field = named<Field>("--" + flag, name);
                } catch (const Error& e) {
                    throw Usage(e.what());
                }
            };
            option = app.add_option_function<std::string>("--" + flag, read, help)->default_str(name_of(field));
        } else if constexpr (std::is_same_v<Field, double>) {
            const auto read = [&field](const std::string& text) { field = read_duration(text); };
            option = flag == "max-time" ? app.add_option_function<std::string>("--" + flag, read, help)
                                              ->default_str(fmt::format("{}", field))
                                        : app.add_option("--" + flag, field, help)->capture_default_str();
        } else {
            option = app.add_option("--" + flag + (flag == "data" ? ",data" : ""), field, help)->capture_default_str();
            if constexpr (std::is_same_v<Field, std::vector<std::string>>)
                flag == "data" ? take_several(*option)
                               : static_cast<void>(option->take_all()->expected(1)->allow_extra_args(false));
        }
        if (train::chosen_flags().contains(flag)) option->default_str("chosen by fast");
    });
    return [args] { return train_model(*args); };
}

}  // namespace inkling::cli

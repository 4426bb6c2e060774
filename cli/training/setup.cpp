#include "cli/training/setup.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "cli/arguments/lines_argument.h"
#include "cli/usage/unknown_flag.h"
#include "data/chat/chat_template.h"
#include "distributed/launch.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "models/files/adapter_folder.h"
#include "models/files/chat_tokens.h"
#include "models/files/folder.h"
#include "train/adapters.h"
#include "train/recipes/estimate.h"
#include "train/run/resume.h"
#include "train/run/run_tokenizer.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;
using train::TrainOptions;

// A tokenizer that is named must be the checkpoint's, which is the one that is used.
void check_tokenizer(const TrainOptions& options, const data::Tokenizer& own, const fs::path& checkpoint, bool force) {
    const bool is_kind = find_named<data::TokenizerKind>(options.tokenizer).has_value();
    if (is_kind || !formats::is_there(options.tokenizer) || force) return;
    models::LoadedModel named{nullptr, models::open_tokenizer(options.tokenizer)};
    if (own.chat && !named.tokenizer->chat) models::add_chat_tokens(named);
    if (named.tokenizer->to_json() == own.to_json()) return;
    throw train::Mismatch(
        fmt::format("{}: was trained with another tokenizer than {} holds: undo that, or go on with "
                    "the checkpoint's own by --force",
                    checkpoint.string(), options.tokenizer));
}

class Preparation {
  public:
    Preparation(const TrainArguments& args, Settings& settings, Report& report)
        : args_(args), settings_(settings), options_(settings.options), report_(report) {}

    // The newest of the candidates that is whole, else a new model.
    void prepare(Prepared& run, const Resume& resume) const {
        for (const fs::path& candidate : resume.candidates) {
            try {
                together([&] {
                    run.loaded = load_checkpoint(candidate);
                    check_tokenizer(options_, *run.loaded.tokenizer, candidate, args_.force);
                });
                make_loop(run, candidate);
                std::string changes;
                together([&] { changes = train::resume(*run.loop, candidate, args_.force); });
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
            run.loaded = options_.lora_rank > 0 ? load_adapted() : load_whole(models::find_model(options_.init_from));
            change_softcap(settings_, run.loaded.model->config);
        } else {
            fit_tokenizer(run.corpus, settings_);
            run.loaded = {nullptr, train::make_tokenizer(options_, run.corpus)};
        }
        if (wants_chat(options_, run.corpus) && !run.loaded.tokenizer->chat) {
            check<BadInput>(options_.lora_rank == 0,
                            "{}: the model has no chat template, and adapters do not learn the tokens of a new one: "
                            "train without --lora-rank, or choose a model with a chat template",
                            options_.init_from);
            models::add_chat_tokens(run.loaded);
            if (has_conversations(run.corpus))
                report_.note(
                    "conversations are learned as ChatML: <|im_start|>, the role, a line end, what is said, "
                    "<|im_end|>");
        }
        make_loop(run, "");
    }

  private:
    // body(), of all processes or none: a checkpoint that one cannot read, none goes on from.
    template <class Body>
    static void together(const Body& body) {
        distributed::Processes* const all = distributed::processes();
        if (!all) return body();
        std::string error;
        try {
            body();
        } catch (const train::Mismatch&) {
            throw;
        } catch (const BadInput& e) {
            error = e.what();
        }
        for (const std::string& text : all->gather_texts(error))
            if (!text.empty()) throw BadInput(text);
    }

    // The first process writes the file of ids that a large text gets, and those that share its folder read it.
    data::EncodedCorpus encoded(const data::Corpus& corpus, const data::Tokenizer& tokenizer) const {
        distributed::Processes* const all = distributed::processes();
        if (all && !all->first()) all->barrier();
        const bool is_there = !all || all->first() || (fs::exists(options_.out) && holds_ids(options_.out));
        data::EncodedCorpus ids =
            data::encode_corpus(tokenizer, corpus.documents,
                                {.name = [&](std::size_t i) { return corpus.source_of(i); },
                                 .cache = is_there ? options_.out : "",
                                 .progress = [this](auto done, auto of) { report_.encoding(done, of); }});
        if (all && all->first()) all->barrier();
        return ids;
    }
    static bool holds_ids(const fs::path& folder) {
        const auto names = formats::names_in(folder);
        return std::any_of(names.begin(), names.end(), [](const auto& n) { return n.starts_with("tokens-"); });
    }

    // All of whose weights are trained: an adapter becomes part of them.
    models::LoadedModel load_whole(const fs::path& folder) const {
        models::LoadedModel loaded = models::load_model(folder, options_.dropout);
        if (loaded.model->adapter.rank > 0) loaded.model->merge_adapters();
        return loaded;
    }

    // The model that adapters are for, in --base-precision.
    models::LoadedModel load_base(const fs::path& folder) const {
        if (models::is_adapter(folder))
            throw Usage(
                fmt::format("{} is an adapter: go on with it by --init-adapter, or make it a model, by inkling "
                            "export --format hf",
                            folder.string()));
        return train::load_base(folder, options_);
    }

    void name_base(models::LoadedModel& loaded, const fs::path& folder) const {
        loaded.model->adapter.dropout = options_.lora_dropout;
        loaded.model->adapter.base = fs::canonical(folder).string();
    }

    // With new adapters, or those of --init-adapter.
    models::LoadedModel load_adapted() const {
        const fs::path folder = models::find_model(options_.init_from);
        models::LoadedModel loaded = load_base(folder);
        models::Transformer<float>& model = *loaded.model;
        check_targets(model.config, options_);
        if (options_.init_adapter.empty()) {
            const auto targets = models::adapter_targets(model.config, options_.lora_targets);
            model.adapt(options_.adapter_options(), targets, Generator{options_.seed});
        } else {
            models::load_adapter(models::find_model(options_.init_adapter), model);
            check<BadInput>(!model.adapter.changes_tables, "--init-adapter {}: {}", options_.init_adapter,
                            models::kTablesChanged);
            const auto adapted = [&](const models::ParameterSpec& p) { return model.has_adapter(p); };
            const std::string targets = fmt::format("{}", fmt::join(models::target_names(model.config, adapted), ","));
            if (args_.has("lora-targets") &&
                models::target_names(model.config, models::adapter_targets(model.config, options_.lora_targets)) !=
                    models::target_names(model.config, adapted))
                throw Usage(
                    fmt::format("--lora-targets is {} in the adapter that is loaded, got {}: leave the flag out",
                                targets, options_.lora_targets));
            options_.lora_targets = targets;
        }
        name_base(loaded, folder);
        return loaded;
    }

    models::LoadedModel load_checkpoint(const fs::path& folder) const {
        const bool adapter = models::is_adapter(folder);
        if (adapter != (options_.lora_rank > 0))
            throw train::Mismatch(fmt::format("{}: is {}, and --lora-rank is {}: leave the flag out", folder.string(),
                                              adapter ? "an adapter" : "a whole model", options_.lora_rank));
        if (!adapter) return models::load_model(folder, options_.dropout);
        const fs::path base =
            args_.has("init-from") ? models::find_model(options_.init_from) : models::base_of_adapter(folder);
        models::LoadedModel loaded = load_base(base);
        models::load_adapter(folder, *loaded.model);
        take_adapter(args_, loaded.model->adapter, options_);
        name_base(loaded, base);
        return loaded;
    }

    void make_loop(Prepared& run, const fs::path& candidate) const {
        if (run.loaded.model) {
            const bool chosen = !candidate.empty() || settings_.given.contains("block-size");
            take_shape(args_, run.loaded.model->config, chosen, options_);
        }
        take_unknown(*run.loaded.tokenizer, options_.strict_vocabulary);
        try {
            if (run.corpus.lines)
                run.documents = encode_lines(run.corpus, *run.loaded.tokenizer, options_.loss_on, run.tokens);
            else
                run.tokens = encoded(run.corpus, *run.loaded.tokenizer);
        } catch (const BadInput& e) {
            if (candidate.empty()) throw;
            throw train::Mismatch(fmt::format("{}: was trained on another text: {}", candidate.string(), e.what()));
        }
        formats::named(run.corpus.name(), [&] {
            const data::Tokenizer& tokenizer = *run.loaded.tokenizer;
            const data::TokenView ids = run.tokens.ids;
            auto& model = run.loaded.model;
            std::vector<std::int32_t> repeated;  // documents may be shorter than the rows that are timed
            if (run.documents && ids.size() < 4 * options_.block_size)
                while (repeated.size() < 4 * options_.block_size)
                    repeated.insert(repeated.end(), ids.begin(), ids.end());
            const data::TokenView text = repeated.empty() ? ids : data::TokenView(repeated);
            train::Budget budget;
            budget.tokens = settings_.recipe && settings_.recipe->tunes ? ids.size() : text.size();
            if (run.documents) tell_documents(*run.documents, budget);
            const std::string chosen = fit_recipe(tokenizer, text, budget, model.get(), settings_);
            if (model) model->config.dropout = options_.dropout;  // the recipe may have chosen it
            if (!chosen.empty()) report_.note(chosen);
            train::check_memory(options_, model ? model->config : options_.model_config(tokenizer.vocab_size()),
                                static_cast<double>(ids.size()));
            if (!model) model = new_model(tokenizer, ids);
            run.loop = std::make_unique<train::TrainingLoop>(
                options_, *model, ids, &tokenizer, distributed::processes(), run.documents ? &*run.documents : nullptr);
        });
    }

    std::unique_ptr<models::Transformer<float>> new_model(const data::Tokenizer& tokenizer, data::TokenView ids) const {
        models::Architecture config = options_.model_config(tokenizer.vocab_size());
        const auto end = tokenizer.end_of_text();
        config.has_bos = end && std::find(ids.begin(), ids.end(), *end) != ids.end();
        if (const auto marks = tokenizer.marks_before(); !marks.empty())
            config.has_bos = true, config.begin_token = marks[0];
        if (tokenizer.chat) config.end_tokens = {models::ChatTemplate::of(tokenizer).end_of_turn()};
        if (tokenizer.chat && end) config.end_tokens.push_back(*end);
        return std::make_unique<models::Transformer<float>>(config, Generator{options_.seed});
    }

    const TrainArguments& args_;
    Settings& settings_;
    TrainOptions& options_;
    Report& report_;
};

}  // namespace

void fit_tokenizer(const data::Corpus& corpus, Settings& settings) {
    const bool chat = wants_chat(settings.options, corpus);  // conversations need byte pairs, which can have marks
    fit_tokenizer(chat ? std::max(corpus.bytes(), train::kShortText + 1) : corpus.bytes(), settings);
}

void prepare(const TrainArguments& args, Settings& settings, Report& report, const Resume& resume, Prepared& run) {
    Preparation(args, settings, report).prepare(run, resume);
}

}  // namespace inkling::cli

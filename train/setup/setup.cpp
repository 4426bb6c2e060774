#include "train/setup/setup.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "data/chat/chat_template.h"
#include "data/stories/stories.h"
#include "distributed/processes.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "models/files/adapter_folder.h"
#include "models/files/chat_tokens.h"
#include "train/recipes/estimate.h"
#include "train/run/resume.h"

namespace inkling::train {
namespace {

namespace fs = std::filesystem;

// If --tokenizer is given, it must be the checkpoint's tokenizer, which the run uses.
void check_tokenizer(const TrainOptions& options, const data::Tokenizer& own, const fs::path& checkpoint, bool force) {
    const bool is_kind = find_named<data::TokenizerKind>(options.tokenizer).has_value();
    if (is_kind || !formats::is_there(options.tokenizer) || force) return;
    models::LoadedModel named{nullptr, models::open_tokenizer(options.tokenizer)};
    if (own.chat && !named.tokenizer->chat) models::add_chat_tokens(named);
    if (named.tokenizer->to_json() == own.to_json()) return;
    throw Mismatch(
        fmt::format("{}: was trained with another tokenizer than {} holds", checkpoint.string(), options.tokenizer),
        "undo that, or keep the checkpoint's with --force");
}

class Preparation {
  public:
    Preparation(Config& config, SetupEvents& events) : config_(config), options_(config.options), events_(events) {}

    // Loads the newest intact candidate, else makes a new model.
    void prepare(PreparedRun& run, const Resume& resume) const {
        for (const fs::path& candidate : resume.candidates) {
            try {
                together([&] {
                    run.loaded = load_checkpoint(candidate);
                    check_tokenizer(options_, *run.loaded.tokenizer, candidate, options_.force);
                });
                make_loop(run, candidate);
                std::string changes;
                together([&] { changes = train::resume(*run.loop, candidate, options_.force); });
                if (!changes.empty()) events_.warn(changes);
                run.checkpoint = candidate;
                return;
            } catch (const Mismatch&) {
                throw;
            } catch (const BadInput& e) {
                run.loop.reset();
                if (candidate == resume.candidates.back()) throw;
                run.damaged.push_back(candidate);
                events_.warn(std::string(e.what()) + ": trying the checkpoint before");
            }
        }
        if (!options_.init_from.empty()) {
            check_least_memory(models::find_model(options_.init_from));
            run.loaded = options_.lora_rank > 0 ? load_adapted() : load_whole(models::find_model(options_.init_from));
            change_softcap(config_, run.loaded.model->config);
        }
        if (open_tokenizer(run.corpus, config_, run.loaded) && data::has_conversations(run.corpus))
            events_.note(
                "conversations are learned as ChatML: <|im_start|>, the role, a line end, what is said, <|im_end|>");
        make_loop(run, "");
    }

  private:
    // Runs body() in all processes; if it fails in one, it fails in all, so that no process resumes from a checkpoint
    // that another cannot read.
    template <class Body>
    static void together(const Body& body) {
        std::string error;
        std::exception_ptr own;
        try {
            body();
        } catch (const Mismatch&) {
            throw;
        } catch (const BadInput& e) {
            error = e.what(), own = std::current_exception();
        }
        for (const std::string& text : distributed::processes().gather_texts(error))
            if (!text.empty()) own ? std::rethrow_exception(own) : throw BadInput(text);
    }

    // The first process writes the file of ids for a large text; processes that share its folder read it.
    data::Dataset encoded(const PreparedRun& run) const {
        distributed::Processes& all = distributed::processes();
        if (!all.first()) all.barrier();
        const bool is_there = all.first() || (fs::exists(options_.out) && holds_ids(options_.out));
        data::Dataset text =
            data::make_dataset(run.corpus, *run.loaded.tokenizer,
                               {.loss_on = options_.loss_on,
                                .cache = is_there ? options_.out : "",
                                .in_memory = run.datasets,
                                .progress = [this](auto done, auto of) { events_.encoding(done, of); }});
        if (all.first()) all.barrier();
        return text;
    }
    static bool holds_ids(const fs::path& folder) {
        const auto names = formats::names_in(folder);
        return std::any_of(names.begin(), names.end(), [](const auto& n) { return n.starts_with("tokens-"); });
    }

    // Refuses a model that certainly takes too much memory before it is read: make_loop() knows what a recipe chooses
    // by the text, and checks again.
    void check_least_memory(const fs::path& folder) const {
        Config least = config_;
        models::Architecture model = models::load_config(folder);
        fit_base_precision(folder, least);
        check_targets(model, options_);
        change_softcap(least, model);
        const bool chosen = least.fits == Fits::model;
        if (chosen) least.choose("batch-size", least.options.batch_size, least.options.shards);
        if (chosen) least.choose("block-size", least.options.block_size, 1);
        take_shape(model, chosen || least.is_given("block-size"), least);
        if (!fit_memory(least, model, 0)) check_memory(least.options, model, 0);
    }

    // Loads a model whose weights are all trained; merges its adapter, if any.
    models::LoadedModel load_whole(const fs::path& folder) const {
        models::LoadedModel loaded = models::load_model(folder, options_.dropout);
        if (loaded.model->adapter.rank > 0) loaded.model->merge_adapters();
        return loaded;
    }

    // Loads the base model of adapters, in --base-precision.
    models::LoadedModel load_base(const fs::path& folder) const {
        check<WrongSetting>(!models::is_adapter(folder),
                            "{} is an adapter: continue it with --init-adapter, or make it a model, by inkling export "
                            "--format hf",
                            folder.string());
        return models::load_model(folder, options_.dropout, {options_.base_precision});
    }

    void name_base(models::LoadedModel& loaded, const fs::path& folder) const {
        loaded.model->adapter.dropout = options_.lora_dropout;
        loaded.model->adapter.base = fs::canonical(folder).string();
    }

    // Loads the base model with new adapters, or with those of --init-adapter.
    models::LoadedModel load_adapted() const {
        const fs::path folder = models::find_model(options_.init_from);
        fit_base_precision(folder, config_);
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
            const auto names = [&](const models::ParameterFilter& adapted) {
                return fmt::format("{}", fmt::join(models::target_names(model.config, adapted), ","));
            };
            const std::string own = names([&](const models::ParameterSpec& p) { return model.has_adapter(p); });
            check<WrongSetting>(!config_.is_flag("lora-targets") ||
                                    names(models::adapter_targets(model.config, options_.lora_targets)) == own,
                                "--lora-targets is {} in the adapter that is loaded, got {}: leave the flag out", own,
                                options_.lora_targets);
            options_.lora_targets = own;
        }
        name_base(loaded, folder);
        return loaded;
    }

    models::LoadedModel load_checkpoint(const fs::path& folder) const {
        const bool adapter = models::is_adapter(folder);
        if (adapter != (options_.lora_rank > 0))
            throw Mismatch(fmt::format("{}: is {}, and --lora-rank is {}", folder.string(),
                                       adapter ? "an adapter" : "a whole model", options_.lora_rank),
                           "leave the flag out");
        if (!adapter) return models::load_model(folder, options_.dropout);
        const fs::path base =
            config_.is_flag("init-from") ? models::find_model(options_.init_from) : models::base_of_adapter(folder);
        models::LoadedModel loaded = load_base(base);
        models::load_adapter(folder, *loaded.model);
        take_adapter(loaded.model->adapter, config_);
        name_base(loaded, base);
        return loaded;
    }

    void make_loop(PreparedRun& run, const fs::path& candidate) const {
        if (run.loaded.model) {
            const bool chosen = !candidate.empty() || config_.is_given("block-size");
            take_shape(run.loaded.model->config, chosen, config_);
        }
        check_teachers(options_, *run.loaded.tokenizer);
        run.loaded.tokenizer->take_unknown(options_.strict_vocabulary);
        try {
            run.text = encoded(run);
        } catch (const BadInput& e) {
            if (candidate.empty()) throw;
            throw Mismatch(fmt::format("{}: was trained on another text: {}", candidate.string(), e.what()));
        }
        formats::named(run.corpus.name(), [&] {
            const data::Tokenizer& tokenizer = *run.loaded.tokenizer;
            const data::TokenView ids = run.text.ids;
            auto& model = run.loaded.model;
            std::vector<std::int32_t> repeated;  // examples may be shorter than the timed rows
            if (run.text.has_examples() && ids.size() < 4 * options_.block_size)
                while (repeated.size() < 4 * options_.block_size)
                    ids.visit([&](auto some) { repeated.insert(repeated.end(), some.begin(), some.end()); });
            const data::TokenView text = repeated.empty() ? ids : data::TokenView(repeated);
            Budget budget = budget_of(run.text);
            if (config_.fits != Fits::model) budget.tokens = text.size();
            const bool recomputes = options_.checkpoint_activations;
            const auto seconds_per_step = fit_recipe(tokenizer, text, budget, model.get(), config_);
            if (model) model->config.dropout = options_.dropout;  // a recipe may have chosen it
            const models::Architecture architecture =
                model ? model->config : options_.model_config(tokenizer.vocab_size());
            const auto tokens_in_all = static_cast<double>(ids.size());
            if (seconds_per_step) events_.planned(options_, architecture, tokens_in_all, *seconds_per_step);
            if (!fit_memory(config_, architecture, tokens_in_all)) check_memory(options_, architecture, tokens_in_all);
            if (options_.checkpoint_activations && !recomputes)
                events_.note("memory is short: backward recomputes the layers (--checkpoint-activations)");
            if (!model) model = new_model(tokenizer, ids);
            run.loop = std::make_unique<TrainingLoop>(options_, *model, run.text, &tokenizer, distributed::processes());
        });
    }

    std::unique_ptr<models::Transformer<float>> new_model(const data::Tokenizer& tokenizer, data::TokenView ids) const {
        models::Architecture config = options_.model_config(tokenizer.vocab_size());
        const auto end = tokenizer.end_of_text();
        config.has_bos = end && ids.visit([&](auto some) { return std::ranges::find(some, *end) != some.end(); });
        if (const auto special_tokens = tokenizer.tokens_before(); !special_tokens.empty())
            config.has_bos = true, config.begin_token = special_tokens[0];
        if (tokenizer.chat) config.end_tokens = {data::ChatTemplate::of(tokenizer).end_of_turn()};
        if (tokenizer.chat && end) config.end_tokens.push_back(*end);
        return std::make_unique<models::Transformer<float>>(config, Generator{options_.seed});
    }

    Config& config_;
    TrainOptions& options_;
    SetupEvents& events_;
};

}  // namespace

Budget budget_of(const data::Dataset& text) {
    Budget budget;
    budget.tokens = text.ids.size();
    for (std::size_t e = 0; e < text.ends.size(); ++e)
        budget.longest_document = std::max(budget.longest_document, text.length(e));
    budget.answers = std::find(text.learn.begin(), text.learn.end(), 0) != text.learn.end();
    return budget;
}

data::Corpus read_text(const TrainOptions& options) {
    return options.data.empty() ? data::stories_corpus() : data::read_corpus(options.data, options.corpus_options());
}

void prepare(Config& config, const Resume& resume, SetupEvents& events, PreparedRun& run) {
    Preparation(config, events).prepare(run, resume);
}

}  // namespace inkling::train

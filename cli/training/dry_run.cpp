// inkling train --dry-run
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/common.h"
#include "cli/training/beginning.h"
#include "cli/training/json_lines.h"
#include "formats/json.h"
#include "models/files/folder.h"
#include "train/recipes/estimate.h"
#include "train/recipes/speed.h"
#include "train/setup/setup.h"

namespace inkling::cli {
namespace {

// quantity() without a unit: "1.23M".
std::string short_number(double x) {
    std::string text = quantity(x, "");
    text.erase(text.find(' '), 1);
    return text;
}

std::string duration(double s) {
    if (s < 90) return fmt::format("{:.1f} seconds", s);
    if (s < 5400) return fmt::format("{:.1f} minutes", s / 60);
    if (s < 2 * 86400) return fmt::format("{:.1f} hours", s / 3600);
    if (s < 2 * 365 * 86400.0) return fmt::format("{:.1f} days", s / 86400);
    return fmt::format("{:.0f} years", s / (365 * 86400.0));
}

struct Vocabulary {
    std::size_t size = 0;
    double tokens = 0;  // in the whole text
    bool exact = false;
};

// Estimates the text's tokens. Counts 3.5 bytes per token of byte pairs that are not learned yet; encodes the beginning
// of plain text, and all examples.
Vocabulary vocabulary(const data::Corpus& corpus, train::Config& config, train::Budget& budget) {
    const train::TrainOptions& options = config.options;
    constexpr std::size_t kSample = 4 << 20;
    const double bytes = static_cast<double>(corpus.bytes());
    models::LoadedModel loaded;
    train::open_tokenizer(corpus, config, loaded, false);
    if (!loaded.tokenizer) return {options.vocab_size, bytes / 3.5, false};
    const data::Tokenizer& tokenizer = *loaded.tokenizer;
    loaded.tokenizer->take_unknown(options.strict_vocabulary);
    if (corpus.examples || !corpus.ids.empty()) {
        budget = train::budget_of(data::make_dataset(corpus, tokenizer, {.loss_on = options.loss_on}));
        return {tokenizer.vocab_size(), static_cast<double>(budget.tokens), true};
    }
    std::size_t read = 0, tokens = 0;
    for (const std::string_view document : corpus.documents) {
        const std::string_view beginning = cut_text(document, kSample - read);
        tokens += tokenizer.encode(beginning).size();
        read += beginning.size();
        if (beginning.size() < document.size()) break;
    }
    const double scale = bytes / static_cast<double>(std::max<std::size_t>(read, 1));
    const double joints = static_cast<double>(corpus.documents.size()) - 1;  // one token each: see encode.h
    return {tokenizer.vocab_size(), static_cast<double>(tokens) * scale + joints, read == corpus.bytes()};
}

}  // namespace

int print_estimate(train::Config config, const data::Corpus& corpus, std::size_t threads) {
    const train::TrainOptions& options = config.options;
    std::optional<models::Architecture> loaded;
    if (!options.init_from.empty()) {
        const std::filesystem::path base = models::find_model(options.init_from);
        loaded = models::load_config(base);
        train::fit_base_precision(base, config);
        train::change_softcap(config, *loaded);
        train::check_targets(*loaded, options);
        train::take_shape(*loaded, config.is_given("block-size"), config);
    }
    train::Budget budget;
    const Vocabulary vocabulary_ = vocabulary(corpus, config, budget);
    const bool fits = config.fits != train::Fits::nothing;
    budget.tokens = static_cast<std::size_t>(vocabulary_.tokens), budget.vocabulary = vocabulary_.size;
    if (fits) budget = train::fit_sizes(budget, loaded ? &*loaded : nullptr, config);
    const models::Architecture architecture = loaded ? *loaded : options.model_config(vocabulary_.size);
    train::fit_memory(config, architecture, vocabulary_.tokens);
    train::Estimate needed = train::estimate(options, architecture, vocabulary_.tokens, options.processes);
    train::fit_steps(budget, needed.seconds_per_step(), architecture, config);
    if (fits) {  // the number of steps decides whether weights are averaged
        train::fit_to_steps(budget, config);
        const auto sizes = train::estimate_sizes(options, architecture, vocabulary_.tokens, options.processes);
        needed.state_bytes = sizes.state_bytes, needed.checkpoint_bytes = sizes.checkpoint_bytes;
    }
    const double steps = static_cast<double>(options.max_iters), seen = steps * needed.tokens_per_step;
    const double passes = seen / std::max(1.0, vocabulary_.tokens * (1 - options.val_fraction));
    const auto [seconds, all_seconds] =
        train::planned_seconds(options, needed, vocabulary_.tokens, needed.seconds_per_step());
    if (options.json) {
        nlohmann::ordered_json plan = plan_json(
            options, needed.parameters, static_cast<std::size_t>(vocabulary_.tokens), vocabulary_.size, threads);
        plan.update({{"tokens_are_exact", vocabulary_.exact},
                     {"epochs", passes},
                     {"flops", steps * needed.flops_per_step},
                     {"memory_bytes", needed.memory_bytes()},
                     {"checkpoint_bytes", needed.checkpoint_bytes},
                     {"seconds", seconds},
                     {"elapsed_s", all_seconds}});
        if (options.processes > 1) plan.update({{"processes", options.processes}, {"state_bytes", needed.state_bytes}});
        if (options.lora_rank > 0)
            plan.update({{"trained_parameters", static_cast<std::uint64_t>(needed.trained)},
                         {"state_bytes", needed.state_bytes}});
        print(formats::json_text(plan) + "\n");
        return 0;
    }
    const auto row = [](const char* name, const std::string& text) { print(fmt::format("{:<12} {}\n", name, text)); };
    row("model",
        fmt::format("{}, {}, {}, width {}, {}, context {}", options.arch, counted(options.n_layer, "layer"),
                    counted(options.n_head, "head"), options.n_embd, name_of(options.precision), options.block_size));
    row("parameters",
        fmt::format("{} ({}){}", short_number(static_cast<double>(needed.parameters)), needed.parameters,
                    options.lora_rank == 0
                        ? ""
                        : fmt::format("; trained: {}, adapters of rank {}; the others in {}",
                                      short_number(needed.trained), options.lora_rank, train::frozen_type(options))));
    row("text", fmt::format("{}, {}{} tokens, vocabulary {}", quantity(static_cast<double>(corpus.bytes()), "B"),
                            vocabulary_.exact ? "" : "about ", short_number(vocabulary_.tokens), vocabulary_.size));
    row("steps", fmt::format("{} of {} tokens each: {} tokens, {:.{}f} epochs", options.max_iters,
                             needed.tokens_per_step, short_number(seen), passes,
                             passes < 1    ? 3
                             : passes < 10 ? 1
                                           : 0));
    row("work", fmt::format("{}, {} per step, without evaluation", quantity(steps * needed.flops_per_step, "FLOP"),
                            quantity(needed.flops_per_step, "FLOP")));
    row("memory",
        fmt::format(
            "{}about {}: {} parameters, gradients and optimizer, {} activations and temporaries{}, {} tokens, {} the "
            "program itself",
            options.processes > 1 ? fmt::format("of each of {} processes ", options.processes) : "",
            quantity(needed.memory_bytes(), "B"), quantity(needed.state_bytes, "B"), quantity(needed.work_bytes, "B"),
            options.checkpoint_activations ? " of recomputed layers" : "", quantity(needed.text_bytes, "B"),
            quantity(needed.kProgramBytes, "B")));
    const std::size_t kept = options.keep_checkpoints + options.steps_to_save().size() + 1;
    row("disk", fmt::format("{} per checkpoint; {} are kept", quantity(needed.checkpoint_bytes, "B"),
                            options.keep_checkpoints == 0 ? "all" : fmt::format("up to {}", kept)));
    row("time", fmt::format("about {} of training steps, at {} measured now with {}; with evaluations, samples and "
                            "checkpoints about {}",
                            duration(seconds), quantity(needed.flops_per_s, "FLOP/s"), counted(threads, "thread"),
                            duration(all_seconds)));
    return 0;
}

}  // namespace inkling::cli

#include "cli/training/beginning.h"

#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/training/multiprocess.h"
#include "data/stories/stories.h"
#include "engine/base/names.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "train/recipes/estimate.h"
#include "train/step/schedule.h"

namespace inkling::cli {

namespace {

using train::TrainOptions;

std::string going_on_from(const std::filesystem::path& checkpoint, const train::TrainingLoop& loop) {
    const train::TrainOptions& o = loop.options();
    const std::string from = fmt::format("going on from {}, step {}", checkpoint.string(), loop.state().step);
    if (o.plan.changes.empty()) return from;
    const auto& [changed_at, steps_before] = o.plan.changes.back();
    if (changed_at != loop.state().step || o.max_iters <= steps_before) return from;
    const double rate = train::schedule_of(o).at(changed_at + (o.max_iters - changed_at) / 20);
    return from + fmt::format(": {} steps, {} before; the learning rate rises again to {:.2g}", o.max_iters,
                              steps_before, rate);
}

std::string adapters_trained(const TrainOptions& options, const models::Transformer<float>& model) {
    const train::Estimate sizes = train::estimate_sizes(options, model.config, 0);
    return fmt::format(
        "adapters of rank {} for {}: {} numbers are trained; {} stays as it is, in {}; {} of weights, gradients and "
        "moments",
        options.lora_rank, options.lora_targets, model.adapter_count(), model.adapter.base, train::frozen_type(options),
        quantity(sizes.state_bytes, "B"));
}

// "documents in 40 rows of 48 tokens, ..."
std::string documents_note(const train::TrainingLoop& loop) {
    const auto add = [&](std::size_t (data::PackedExamples::*what)() const) {
        return (loop.train_rows()->*what)() + (loop.val_rows() ? (loop.val_rows()->*what)() : 0);
    };
    const std::size_t cut = add(&data::PackedExamples::cut), beyond = add(&data::PackedExamples::cut_before_answer),
                      left_out = add(&data::PackedExamples::left_out);
    std::string text = fmt::format(
        "documents in {} of {}, {} for validation; {} to learn", counted(add(&data::PackedExamples::size), "row"),
        counted(loop.options().block_size, "token"), loop.val_rows() ? loop.val_rows()->size() : 0,
        counted(add(&data::PackedExamples::targets), "token"));
    if (cut > 0) text += fmt::format("; {} longer than a row: the rest is left out", counted(cut, "document"));
    if (beyond > 0) text += fmt::format(", in {} all that is learned", counted(beyond, "document"));
    if (left_out > 0) text += fmt::format("; {} without anything to learn", counted(left_out, "document"));
    return text;
}

std::string memory_note(const TrainOptions& options, const models::Transformer<float>& model,
                        const distributed::Processes& processes) {
    const train::Estimate sizes = train::estimate_sizes(options, model.config, 0, processes.count);
    return fmt::format("{}, which train together; each keeps {} of parameters, gradients and optimizer",
                       processes_text(processes), quantity(sizes.state_bytes, "B"));
}

}  // namespace

void print_header(Report& report, const train::PreparedRun& run, std::size_t threads) {
    const train::TrainingLoop& loop = *run.loop;
    const TrainOptions& options = loop.options();
    models::Transformer<float>& model = *run.loaded.model;
    const std::uint64_t parameters = model.parameter_count();
    const bool built_in = options.data.empty();
    report.note(fmt::format("{} parameters, {} tokens, vocabulary {} ({}), {}, seed {}",
                            parameters < 10'000 ? fmt::format("{}", parameters)
                                                : fmt::format("{:.2f}M", static_cast<double>(parameters) / 1e6),
                            run.text.ids.size(), run.loaded.tokenizer->vocab_size(),
                            built_in ? "the built-in stories" : fmt::format("{}", fmt::join(options.data, ", ")),
                            counted(threads, "thread"), options.seed));
    if (run.loop->step().processes().count > 1) report.note(memory_note(options, model, run.loop->step().processes()));
    if (run.text.has_examples()) report.note(documents_note(*run.loop));
    if (model.adapter.rank > 0) report.note(adapters_trained(options, model));
    if (const std::string warning = models::gguf_warning(run.loaded.tokenizer->origin); !warning.empty())
        report.warn(warning);
    if (const auto& unknown = run.loaded.tokenizer->unknown; unknown && unknown->tally().characters > 0)
        report.warn(unknown->note());
    if (built_in) {
        const double a_char = data::stories_nats_per_char;
        const double chars = static_cast<double>(run.text.bytes) / static_cast<double>(run.text.ids.size());
        report.note(fmt::format(
            "the entropy of the stories, the lowest possible loss: {:.4f} nats per token, {:.4f} per character",
            a_char * chars, a_char));
    }
    if (!run.checkpoint.empty()) report.note(going_on_from(run.checkpoint, loop));
    if (loop.eval_tokens() < loop.text().val.size())
        report.note(fmt::format("validation: {} of {} tokens, the same ones each time", loop.eval_tokens(),
                                loop.text().val.size()));
}

}  // namespace inkling::cli

#include "cli/training/beginning.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/common.h"
#include "cli/training/multiprocess.h"
#include "data/stories/stories.h"
#include "engine/base/names.h"
#include "formats/utf8.h"
#include "generate/sequence.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "train/recipes/estimate.h"
#include "train/run/run_folder.h"
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
        options.lora_rank, options.lora_targets, model.adapter_count(), model.adapter.base,
        name_of(options.base_precision), quantity(sizes.state_bytes, "B"));
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

namespace {

const char* why_stopped(const train::TrainingLoop& loop) {
    switch (loop.stop_reason()) {
        case train::StopReason::max_iters:
            return "all steps are done";
        case train::StopReason::max_time:
            return "the time is up";
        case train::StopReason::patience:
            return "the validation loss had not improved for a while";
        default:
            return "stopped";
    }
}

// A few whole words from a line at the beginning of the validation part: "And with the morning".
std::string words_of(const train::TrainingLoop& loop, const data::Tokenizer& tokenizer) {
    constexpr std::size_t kMaxTokens = 200, kBytes = 40;
    const auto& part = loop.text().val.empty() ? loop.text().train : loop.text().val;
    std::vector<std::int32_t> ids(std::min(kMaxTokens, part.size()));
    part.first(ids.size()).copy_to(ids.data());
    std::string text = tokenizer.decode(ids);
    const std::size_t space = text.find_first_of(" \n");  // skips the first word, which may be cut
    const std::size_t begin = space == std::string::npos ? space : text.find_first_not_of(" \r\n\t", space);
    if (begin == std::string::npos) return "";
    text = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
    if (text.size() > kBytes) {
        const std::size_t end = text.find_last_of(' ', kBytes);
        text.resize(cut_text(text, end != std::string::npos && end > 0 ? end : kBytes).size());
    }
    return text.substr(0, formats::find_invalid_utf8(text));  // the last token may end in a character
}

bool needs_no_escape(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c >= ' ' && std::string("\"\\$`!").find(static_cast<char>(c)) == std::string::npos;
    });
}

// Generates with the best model after the ids, or, without ids, after the prompt.
std::string written_by_best(train::TrainingLoop& loop, const data::Tokenizer& tokenizer, const std::string& prompt,
                            const std::vector<std::int32_t>& ids) {
    generate::GenerateOptions how;
    how.seed = loop.options().seed;
    const auto written = [&](const models::Transformer<float>& model) {
        const auto inference =
            std::make_shared<const models::InferenceModel>(model, train::inference_type(loop.options()));
        generate::Sequence sequence(inference, &tokenizer, how);
        ids.empty() ? sequence.add(prompt) : sequence.add(ids);
        return sequence.write();
    };
    const std::size_t best = loop.state().best_step;
    const bool earlier = loop.has_best() && best != loop.state().step;
    const std::filesystem::path folder = models::find_model(loop.options().out);
    if (earlier && !models::is_adapter(folder)) return written(*models::load_model(folder).model);
    if (earlier) {  // training is over, so its model can load the best adapters
        models::load_adapter(folder, loop.model());
        loop.model().eval();
        return written(loop.model());
    }
    const train::Averaged weights(loop.step().average);  // reuses the model to save memory
    loop.model().eval();
    return written(loop.model());
}

}  // namespace

void print_summary(Report& report, train::TrainingLoop& loop, const data::Tokenizer& tokenizer,
                   const train::RunCard& card, double seconds, const std::string& sha256,
                   const train::SampleWriter::Take& take_sample) {
    const train::TrainingState& state = loop.state();
    const train::TrainOptions& options = loop.options();
    const double tokens = static_cast<double>(state.step) * loop.tokens_per_step();
    report.note(fmt::format("{}: {}; {} of training at {:.0f} tok/s, {} in all; {:.3g} times the text",
                            why_stopped(loop), counted(state.step, "step"), short_time(state.train_s),
                            tokens / std::max(state.train_s, 1e-9), short_time(seconds),
                            tokens / static_cast<double>(loop.text().train.size())));
    const bool last = state.best_step == state.step;
    if (std::isfinite(state.best_val_loss)) {
        const double loss = state.best_val_loss;
        std::string text = fmt::format("best validation loss: {}", loss_text(loss, loop.bits_per_byte(loss)));
        if (loop.has_best() && state.best_step == 0)
            text += ", before the first step: none made it better, and the model is kept as it was";
        else if (state.best_step > 0)
            text += fmt::format(", at step {}", state.best_step);
        if (const auto before = card.val_loss_before(); before && state.best_step > 0)
            text += fmt::format("; before training: {}", loss_text(*before, loop.bits_per_byte(*before)));
        if (!last && state.best_step > 0) text += "; later steps are no better: the model of that step is kept as best";
        report.note(text);
    }
    const std::vector<std::string>& given = options.sample_prompt;
    const std::vector<std::int32_t> question = given.empty() ? train::question_of(loop) : std::vector<std::int32_t>();
    const std::string prompt = !given.empty()     ? given.front()
                               : question.empty() ? words_of(loop, tokenizer)
                                                  : tokenizer.decode(question);
    if (options.sample_every > 0) take_sample(prompt, written_by_best(loop, tokenizer, prompt, question));
    report.note(fmt::format("sha256 of the weights in {}: {}", (std::filesystem::path(options.out) / "latest").string(),
                            sha256));
    if (tokenizer.chat)
        return report.note(fmt::format("saved in {}; talk with it: inkling chat --model {}",
                                       models::find_model(options.out).string(), options.out));
    report.note(fmt::format("saved in {}; write text with: inkling generate --model {}{}",
                            models::find_model(options.out).string(), options.out,
                            needs_no_escape(prompt) ? fmt::format(" --prompt \"{}\"", prompt) : ""));
}

}  // namespace inkling::cli

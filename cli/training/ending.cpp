#include "cli/training/ending.h"

#include <algorithm>
#include <cmath>

#include "cli/common.h"
#include "engine/base/names.h"
#include "formats/utf8.h"
#include "generate/sequence.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "train/loop.h"

namespace inkling::cli {
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
                   const train::RunMetadata& metadata, double seconds, const std::string& sha256,
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
        if (const auto before = metadata.val_loss_before(); before && state.best_step > 0)
            text += fmt::format("; before training: {}", loss_text(*before, loop.bits_per_byte(*before)));
        if (!last && state.best_step > 0) text += "; later steps are not better; that step's model is kept as best";
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

#include "train/callbacks.h"

#include <algorithm>

#include "engine/fused/cross_entropy.h"
#include "formats/files/file.h"
#include "generate/sequence.h"
#include "train/loop.h"

namespace inkling::train {

CheckpointSaver::CheckpointSaver(RunFolder& folder, const data::Tokenizer& tokenizer, const TrainingLoop& loop,
                                 MetricsFile* metrics)
    : folder_(folder), tokenizer_(tokenizer), metrics_(metrics), chain_(folder.path(), loop) {
    formats::write_file_atomic(folder.path() / "config.toml", loop.state().config, formats::Links::replaced);
}

void CheckpointSaver::replanned(TrainingLoop& loop) {
    formats::write_file_atomic(folder_.path() / "config.toml", loop.state().config, formats::Links::replaced);
}

void CheckpointSaver::checkpoint_wanted(TrainingLoop& loop) {
    TrainingStep& step = loop.step();
    const Averaged weights(step.average);
    folder_.save(loop.state().step, [&](const std::filesystem::path& folder) {
        const SavedHashes saved = save_checkpoint(folder, loop.model(), tokenizer_, step.parameters,
                                                  loop.whole_optimizer(), step.average, loop.state());
        sha256_ = saved.weights;
        if (metrics_) metrics_->saved(sha256_);
        chain_.add(folder, loop.state(), loop.options(), saved);
    });
}

const std::string& CheckpointSaver::sha256() {
    if (sha256_.empty()) sha256_ = weights_sha256(folder_.path() / "latest");
    return sha256_;
}

SampleWriter::SampleWriter(const data::Tokenizer& tokenizer, Take take)
    : tokenizer_(tokenizer), take_(std::move(take)) {}

void SampleWriter::sample_wanted(TrainingLoop& loop) {
    std::vector<std::string> prompts = loop.options().sample_prompt;
    if (prompts.empty()) prompts.push_back("");
    for (const Sample& sample : write_samples(loop, tokenizer_, prompts)) take_(sample.prompt, sample.text);
}

WeightType inference_type(const TrainOptions& options) {
    const bool packed = options.lora_rank > 0 && options.base_precision >= WeightType::q8_0;
    return packed ? options.base_precision : WeightType::fp32;
}

std::vector<std::int32_t> question_of(const train::TrainingLoop& loop) {
    const data::PackedExamples* const rows = loop.val_rows() ? loop.val_rows() : loop.train_rows();
    if (!rows) return {};
    std::vector<std::int32_t> ids(rows->length()), targets(ids), begins(ids);
    rows->fill(0, ids.data(), targets.data(), begins.data());
    const auto learned = std::find_if(targets.begin(), targets.end(), [](auto id) { return id != kIgnore; });
    if (learned == targets.begin() || learned == targets.end()) return {};
    ids.resize(static_cast<std::size_t>(learned - targets.begin()) + 1);
    return ids;
}

std::vector<Sample> write_samples(TrainingLoop& loop, const data::Tokenizer& tokenizer,
                                  const std::vector<std::string>& prompts) {
    const Averaged weights(loop.step().average);
    models::Transformer<float>& model = loop.model();
    model.eval();
    generate::GenerateOptions options;
    options.max_tokens = 200;
    options.seed = loop.options().seed;
    const std::int32_t first = loop.text().val.empty() ? loop.text().train[0] : loop.text().val[0];
    const std::int32_t begin = model.config.has_bos ? tokenizer.end_of_text().value_or(first) : first;
    const std::vector<std::int32_t> question = question_of(loop);
    const std::span<const std::int32_t> opening = question.empty() ? std::span(&begin, 1) : std::span(question);
    const auto inference = std::make_shared<const models::InferenceModel>(model, inference_type(loop.options()));
    std::vector<Sample> samples;
    for (const std::string& prompt : prompts) {
        generate::Sequence text(inference, &tokenizer, options);
        prompt.empty() ? text.add(opening) : text.add(prompt);
        samples.push_back({prompt.empty() ? tokenizer.decode(question) : prompt, text.write()});
    }
    model.train();
    return samples;
}

}  // namespace inkling::train

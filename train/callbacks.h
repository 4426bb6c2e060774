// The callbacks of most runs, beside MetricsFile (run/metrics.h):
//   RunFolder folder(options.out);
//   CheckpointSaver checkpoints(folder, *tokenizer, loop);
//   SampleWriter samples(*tokenizer, [](const auto& prompt, const auto& text) { std::cout << prompt << text; });
//   loop.run({&checkpoints, &samples});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "train/callback.h"
#include "train/run/chain.h"
#include "train/run/metrics.h"
#include "train/run/run_folder.h"
#include "train/settings/options.h"

namespace inkling::train {

class CheckpointSaver : public Callback {
  public:
    // Writes the folder's config.toml, and a line of its chain.jsonl for each checkpoint. Reports each checkpoint to
    // `metrics`, if any.
    CheckpointSaver(RunFolder& folder, const data::Tokenizer& tokenizer, const TrainingLoop& loop,
                    MetricsFile* metrics = nullptr);
    void checkpoint_wanted(TrainingLoop& loop) override;
    void replanned(TrainingLoop& loop) override;  // writes config.toml again
    const std::string& sha256();                  // of the weights of the newest checkpoint (checkpoint.h)

  private:
    RunFolder& folder_;
    const data::Tokenizer& tokenizer_;
    MetricsFile* metrics_;
    ChainFile chain_;
    std::string sha256_;  // empty if not computed
};

// The weight type in which an InferenceModel uses the run's weights without converting them. It reads bfloat16 weights
// as float32, too.
WeightType inference_type(const TrainOptions& options);

// The beginning of the validation part's first document that is not learned, such as the question before an answer;
// empty if the whole document is learned.
std::vector<std::int32_t> question_of(const TrainingLoop& loop);

struct Sample {
    std::string prompt, text;
};

// Generates text after each prompt, as valid UTF-8, with the average of the weights if the run keeps one. The prompt ""
// stands for question_of(), or else for the beginning of the validation part, which is not shown. Leaves the model in
// training mode, and changes nothing that training depends on.
std::vector<Sample> write_samples(TrainingLoop& loop, const data::Tokenizer& tokenizer,
                                  const std::vector<std::string>& prompts);

// Calls `take` with each --sample-prompt and the text generated after it; without prompts, with write_samples of "".
class SampleWriter : public Callback {
  public:
    using Take = std::function<void(const std::string& prompt, const std::string& text)>;
    SampleWriter(const data::Tokenizer& tokenizer, Take take);
    void sample_wanted(TrainingLoop& loop) override;

  private:
    const data::Tokenizer& tokenizer_;
    Take take_;
};

}  // namespace inkling::train

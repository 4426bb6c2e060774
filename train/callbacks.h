// What most runs have to look on, beside MetricsFile (metrics.h):
//   RunFolder folder(options.out);
//   CheckpointSaver checkpoints(folder, *tokenizer, loop);
//   SampleWriter samples(*tokenizer, [](const auto& prompt, const auto& text) { std::cout << prompt << text << "\n";
//   }); loop.run({&checkpoints, &samples});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/tokenizers/tokenizer.h"
#include "train/callback.h"
#include "train/run/metrics.h"
#include "train/run/run_folder.h"
#include "train/settings/options.h"

namespace inkling::train {

class CheckpointSaver : public Callback {
  public:
    // Writes the folder's config.toml. `metrics`, if any, is told of each checkpoint.
    CheckpointSaver(RunFolder& folder, const data::Tokenizer& tokenizer, const TrainingLoop& loop,
                    MetricsFile* metrics = nullptr);
    void checkpoint_wanted(TrainingLoop& loop) override;
    void replanned(TrainingLoop& loop) override;  // writes config.toml again

  private:
    RunFolder& folder_;
    const data::Tokenizer& tokenizer_;
    MetricsFile* metrics_;
};

// In the place of a CheckpointSaver, in all of several processes but the first: hands that one what it is to save.
class CheckpointPart : public Callback {
  public:
    void checkpoint_wanted(TrainingLoop& loop) override;
};

// In which a InferenceModel of the run's model takes its weights as they are: bfloat16 ones are read as float32, too.
WeightType inference_type(const TrainOptions& options);

// The first document of the validation part up to where it begins to be learned, such as a question before its answer;
// nothing where all of it is.
std::vector<std::int32_t> question_of(const TrainingLoop& loop);

struct Sample {
    std::string prompt, text;
};

// What the model writes behind each prompt, with the average of its weights where there is one; in the place of "":
// question_of, or else the beginning of the validation part, of which nothing is shown. Valid UTF-8. The model is then
// in training mode, and nothing that training depends on has changed.
std::vector<Sample> write_samples(TrainingLoop& loop, const data::Tokenizer& tokenizer,
                                  const std::vector<std::string>& prompts);

// Hands over each --sample-prompt and what the model writes behind it, valid UTF-8; without any, write_samples of "".
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

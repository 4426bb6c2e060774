// What most runs have to look on, beside MetricsFile (metrics.h):
//   RunFolder folder(options.out);
//   CheckpointSaver checkpoints(folder, *tokenizer, loop);
//   SampleWriter samples(*tokenizer, [](const std::string& text) { std::cout << text << "\n"; });
//   loop.run({&checkpoints, &samples});
#pragma once

#include <functional>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "train/observer.h"
#include "train/run_folder.h"

namespace inkling::train {

class CheckpointSaver : public Observer {
  public:
    // Writes the folder's config.toml.
    CheckpointSaver(RunFolder& folder, const data::Tokenizer& tokenizer, const TrainingLoop& loop);
    void checkpoint_wanted(TrainingLoop& loop) override;
    void replanned(TrainingLoop& loop) override;  // writes config.toml again

  private:
    RunFolder& folder_;
    const data::Tokenizer& tokenizer_;
};

// Hands over text that the model writes, valid UTF-8.
class SampleWriter : public Observer {
  public:
    SampleWriter(const data::Tokenizer& tokenizer, std::function<void(const std::string&)> take);
    void sample_wanted(TrainingLoop& loop) override;

  private:
    const data::Tokenizer& tokenizer_;
    std::function<void(const std::string&)> take_;
};

}  // namespace inkling::train

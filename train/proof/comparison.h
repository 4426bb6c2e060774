// Compares a repeated stretch of training with the run's records: losses, chain lines, the last checkpoint.
//   Comparison comparison(stretch, read_chain(stretch.run));
//   comparison.begin(loop, tokenizer, last);
//   loop.run({&comparison}, [&] { return comparison.ended(); });
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "data/tokenizers/tokenizer.h"
#include "train/callback.h"
#include "train/proof/replay.h"
#include "train/run/chain.h"

namespace inkling::train {

// A folder of checkpoints in $TMPDIR that goes away with it.
struct TemporaryFolder {
    std::filesystem::path path;
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

class Comparison : public Callback {
  public:
    Comparison(const Stretch& stretch, const std::vector<ChainLine>& chain);

    // The next steps are of this loop, up to `last`. The tokenizer must outlive them.
    void begin(TrainingLoop& loop, const data::Tokenizer& tokenizer, std::size_t last);
    void evaluated(TrainingLoop& loop) override;
    void step_done(TrainingLoop& loop) override;

    bool ended() const { return ended_ || !result.problem.empty(); }
    std::filesystem::path saved() const { return saved_->path; }  // the checkpoint that was compared last
    Replayed result;

  private:
    void compare(TrainingLoop& loop);
    void compare_metrics(TrainingLoop& loop);
    void compare_checkpoint(TrainingLoop& loop);
    void fail(const TrainingLoop& loop, const std::string& what);

    const Stretch& stretch_;
    const data::Tokenizer* tokenizer_ = nullptr;
    std::map<std::size_t, nlohmann::ordered_json> metrics_;  // by step
    std::map<std::size_t, ChainLine> chain_;
    std::unique_ptr<TemporaryFolder> saved_;
    std::size_t last_ = 0;
    bool ended_ = false;
};

}  // namespace inkling::train

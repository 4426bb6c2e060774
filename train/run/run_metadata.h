// OUT/run.json: the machine and the size of a run. A resumed run writes it again.
//   RunMetadata metadata(folder.path(), {{"parameters", parameters}});
//   loop.run({&metadata});   // adds the peak memory at the end
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "train/callback.h"

namespace inkling::train {

class RunMetadata : public Callback {
  public:
    // Writes `metadata` with "started" and "machine": cpu, cores, memory_bytes.
    RunMetadata(const std::filesystem::path& run, nlohmann::ordered_json metadata);
    void evaluated(TrainingLoop& loop) override;  // before the first step: val_loss_before
    void stopped(TrainingLoop& loop) override;    // adds ended, stop_reason and peak_memory_bytes
    std::optional<double> val_loss_before() const;

  private:
    std::filesystem::path path_;
    nlohmann::ordered_json metadata_;
};

}  // namespace inkling::train

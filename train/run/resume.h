// Resumes from a checkpoint: restores the loop's state and reports changed settings. Settings that do not affect the
// result (threads, intervals) and the length of training may change silently. With more steps or more time than before,
// it replans the rest of the run (TrainingLoop::replan).
//   const std::string changes = resume(loop, folder.checkpoints().front());
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "train/settings/settings.h"

namespace inkling::train {

class TrainingLoop;
struct TrainingState;

// An intact checkpoint of another text, tokenizer or settings than the run that resumes from it.
struct Mismatch : BadInput {
    explicit Mismatch(const std::string& what, const std::string& advice = "")
        : BadInput(what + (advice.empty() ? "" : ": " + advice)), bare(what) {}
    std::string bare;  // without the advice, which is about flags of `inkling train`
};

// Resumes from a checkpoint whose weights the loop's model already has. Throws BadInput if it is damaged, Mismatch if
// its text or settings differ. With `force`, returns the differences instead, "" for none.
std::string resume(TrainingLoop& loop, const std::filesystem::path& checkpoint, bool force = false);

// Whether a checkpoint was trained with another text, base model or teachers.
std::vector<std::string> changed_inputs(const TrainingState& then, const TrainingState& now);

// The differences from the settings in a checkpoint's config: "--learning-rate was 0.001, is 0.01". Ignores settings
// that the config does not have.
std::vector<std::string> changed_settings(const Config& then, const TrainOptions& now);

}  // namespace inkling::train

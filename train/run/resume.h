// Going on from a checkpoint: the state of the loop, and what the run does otherwise than before. Settings that the
// result does not depend on (threads, intervals), and how long it is to train, may change; of others the user is told.
// With more steps or more time than before, the rest of the run is planned again (TrainingLoop::replan).
//   const std::string changes = resume(loop, folder.checkpoints().front());
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "train/settings/options.h"

namespace inkling::train {

class TrainingLoop;

// A checkpoint that is whole, but of another text, tokenizer or settings than the run that is to go on from it.
struct Mismatch : BadInput {
    using BadInput::BadInput;
};

// Goes on from a checkpoint, whose weights the loop's model already has. Throws BadInput when it is damaged, Mismatch
// when it is of another text or of other settings; with `force`, returns what they are, "": they are the same.
std::string resume(TrainingLoop& loop, const std::filesystem::path& checkpoint, bool force = false);

// What differs from the settings in a checkpoint's config: "--learning-rate was 0.001, is 0.01" and the like. Settings
// that the config does not have, or that only a newer version knows, are passed over.
std::vector<std::string> changed_settings(const std::string& then, TrainOptions now);

}  // namespace inkling::train

// What a run that goes on does otherwise than before. Settings that the result does not depend on (threads, intervals),
// and how long it is to train, may change; of others the user is told.
#pragma once

#include <string>
#include <vector>

#include "engine/check.h"

namespace inkling::train {

// A checkpoint that is whole, but of another text, tokenizer or settings than the run that is to go on from it.
struct Mismatch : BadInput {
    using BadInput::BadInput;
};

// Of two texts of to_toml: "--learning-rate was 0.001, is 0.01" and the like. Settings that only one of them has are
// those of another version, and are passed over.
std::vector<std::string> changed_settings(const std::string& then, const std::string& now);

}  // namespace inkling::train

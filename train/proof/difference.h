// The first file, tensor and number in which two checkpoints of one step differ.
#pragma once

#include <filesystem>
#include <string>

#include "train/run/chain.h"

namespace inkling::train {

// "" if they are the same, apart from clocks, paths and evaluations. `hashes`: hashes_of(here).
std::string difference(const std::filesystem::path& there, const std::filesystem::path& here, const FileHashes& hashes);

}  // namespace inkling::train

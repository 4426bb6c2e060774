// The first file, tensor and number in which two checkpoints of one step differ.
#pragma once

#include <filesystem>
#include <string>

#include "train/run/chain.h"

namespace inkling::train {

struct HashedCheckpoint {
    std::filesystem::path folder;
    const FileHashes& files;  // hashes_of(folder)
};

// "" if they are the same, apart from clocks, paths and evaluations.
std::string difference(const HashedCheckpoint& there, const HashedCheckpoint& here);

}  // namespace inkling::train

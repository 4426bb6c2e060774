// Checks whether a run can be resumed: reads every checkpoint as --resume would, bit for bit.
//   std::vector<CheckedCheckpoint> all;
//   for (const auto& folder : find_checkpoints(run)) all.push_back(verify_checkpoint(folder));
//   for (const CheckedLink& link : verify_links(run, all)) ...
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "train/run/chain.h"

namespace inkling::train {

struct CheckedCheckpoint {
    std::filesystem::path folder;
    std::string problem = "";  // "" if it is intact
    double val_loss = std::numeric_limits<double>::infinity();
    std::string data_fingerprint = "";  // of the training text
    FileHashes files = {};              // hashes_of(folder)
};

// Reads model, tokenizer and training state, and compares their checksums; for adapters, checks that their base model
// is unchanged, which may lie elsewhere now (`base`). Throws only if memory runs out.
CheckedCheckpoint verify_checkpoint(const std::filesystem::path& folder, const std::string& base = "");

struct CheckedLink {
    std::string name, target;  // target "" if the link does not exist
    std::string problem = "";
};

// `latest` must be the newest intact checkpoint, `best` the intact one with the lowest validation loss, if any.
std::vector<CheckedLink> verify_links(const std::filesystem::path& run,
                                      const std::vector<CheckedCheckpoint>& newest_first);

}  // namespace inkling::train

// Whether what a run has left can be gone on from: every checkpoint is read as --resume would read it, bit for bit.
//   std::vector<CheckedCheckpoint> all;
//   for (const auto& folder : find_checkpoints(run)) all.push_back(verify_checkpoint(folder));
//   for (const CheckedLink& link : verify_links(run, all)) ...
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace inkling::train {

struct CheckedCheckpoint {
    std::filesystem::path folder;
    std::string problem = "";  // "": it is whole
    double val_loss = std::numeric_limits<double>::infinity();
    std::string data_fingerprint = "";  // of the text that it was trained on
};

// Reads model, tokenizer and training state, and compares their checksums; of adapters also whether the model that they
// belong to is still the same. Throws only when memory runs out.
CheckedCheckpoint verify_checkpoint(const std::filesystem::path& folder);

struct CheckedLink {
    std::string name, target;  // target "": there is no such link
    std::string problem = "";
};

// `latest` is to be the newest whole checkpoint, `best` the whole one of the lowest validation loss, if there is one.
std::vector<CheckedLink> verify_links(const std::filesystem::path& run,
                                      const std::vector<CheckedCheckpoint>& newest_first);

}  // namespace inkling::train

// Trains a part of a run again, from one kept checkpoint to the next, and compares it with the run's records: the
// losses in metrics.jsonl, the lines of chain.jsonl, and the checkpoint at its end. The run's folder stays as it is.
//   TextOfRuns text{read_text(options)};
//   for (const Stretch& stretch : stretches_of(run, verified))
//       const Replayed replayed = replay(stretch, {}, text, watch, stop);
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "train/callback.h"
#include "train/run/verify.h"
#include "train/setup/setup.h"

namespace inkling::train {

struct Stretch {
    std::filesystem::path run = {};
    std::filesystem::path from = {};  // a checkpoint; empty: a new model
    std::filesystem::path to = {};    // a checkpoint; empty: the last line of the chain
    FileHashes files = {};            // hashes_of(to)
    std::size_t first = 0, last = 0;  // their steps
};

// The stretches between the intact checkpoints, and the first, from step 0.
std::vector<Stretch> stretches_of(const std::filesystem::path& run, const std::vector<CheckedCheckpoint>& newest_first);

// The new places of the run's models; empty: the places in its settings.
struct MovedModels {
    std::string init_from = "";
    std::vector<std::string> teacher = {};
};

struct Replayed {
    std::string problem = "";             // the first difference, with its step; "" if the stretch holds
    std::size_t losses = 0;               // number of recorded losses that are the same
    std::vector<std::size_t> lines = {};  // steps of lines of the chain that hold
    std::string sha256 = "";              // of the weights at the end of the stretch
};

// Trains with the settings of the checkpoint at the end, or before a --resume that changed them, those in the chain.
// `watch` sees the steps; `stop` ends it early. Throws BadInput if it cannot be trained here: a file is missing, or
// bf16 rounds in another order on this CPU.
Replayed replay(const Stretch& stretch, const MovedModels& moved, TextOfRuns& text, Callback& watch,
                const std::function<bool()>& stop);

}  // namespace inkling::train

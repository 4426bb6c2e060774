// OUT/chain.jsonl: a line for each checkpoint that a run saved, with the hashes of its files and the hash of the line
// before, so that no line can be changed, added or removed later without changing all lines after it. The same training
// writes the same lines, on every machine. Keys: step, text (the fingerprint of the training data), base and teachers
// (those of the adapters' base model and of the teachers), settings (that differ from the line before, as texts: those
// on which the result depends, without paths), files (hash_of each file of the checkpoint), before; in bf16 also cpu.
//   ChainFile chain(folder.path(), loop);
//   chain.add(checkpoint, loop.state(), loop.options(), save_checkpoint(checkpoint, ...));
//   for (const ChainLine& line : read_chain(folder.path())) ...
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "train/run/checkpoint.h"
#include "train/run/metrics.h"

namespace inkling::train {

using FileHashes = std::map<std::string, std::string>;  // by name, in hexadecimal

using ChainSettings = std::map<std::string, std::string>;  // by key, as on the command line

// The SHA-256 of a checkpoint's files. The training state's covers only what training determines, not clocks and
// paths; that of adapter_config.json leaves out the base model's path. Files whose hash is `known` are not read.
FileHashes hashes_of(const std::filesystem::path& checkpoint, const SavedHashes& known = {});

struct ChainLine {
    std::size_t step = 0;
    std::string text, base, teachers;
    std::string cpu;         // the kind of CPU that trained in bf16; "" for fp32
    ChainSettings settings;  // all settings
    FileHashes files;
    std::string before;  // sha256 of the line before; "" for the first
    std::string sha256;  // of this line
};

// Throws BadInput, naming the line, for anything that is not a line of a chain. Without the file there are no lines.
std::vector<ChainLine> read_chain(const std::filesystem::path& run);

// The first problem: a line that was changed, a checkpoint that differs from its line, or a missing line between
// others.
std::vector<std::string> chain_problems(const std::filesystem::path& run,
                                        const std::map<std::size_t, FileHashes>& checkpoints);

class ChainFile {
  public:
    // Drops lines after the loop's step. Adds the line of that step's checkpoint if it is missing.
    ChainFile(const std::filesystem::path& run, const TrainingLoop& loop);
    void add(const std::filesystem::path& checkpoint, const TrainingState& state, const TrainOptions& options,
             const SavedHashes& known = {});

  private:
    LinesFile file_;
    std::string before_;
    ChainSettings settings_;
};

}  // namespace inkling::train

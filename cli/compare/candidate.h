// A candidate of `compare`: its flags, its text, and the identity of its runs.
//   Texts texts;
//   Candidate c = make_candidate("a.toml", flags, texts);
//   check_identity(c, folder, comparison_of(folder));      // before a run goes on there
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/training/train_flags.h"
#include "train/setup/setup.h"

namespace inkling::cli {

// The texts that were read, by the settings that say how: each is read and encoded once for all runs.
using Texts = std::map<std::string, std::unique_ptr<train::TextOfRuns>>;

struct Candidate {
    std::string file, name;  // the TOML file; its name without extension, as UTF-8
    train::Config config;    // the flags, and the settings in the file
    // JSON of all that the results depend on: the version, a hash of the text, the file, the flags, and hashes of the
    // models and the tokenizer that it names.
    std::string identity;
    train::TextOfRuns* text = nullptr;
    std::vector<double> losses = {};  // by seed
};

// Throws Usage without a budget, BadInput for settings or a text that cannot be read.
Candidate make_candidate(const std::string& file, const TrainFlags& flags, Texts& texts);

// The identity in run.json of a run; "" if no comparison began it, or another command went on with it.
std::string comparison_of(const std::filesystem::path& run);

// Throws Usage if `then`, the identity recorded in `where`, is not the candidate's.
void check_identity(const Candidate& c, const std::filesystem::path& where, const std::string& then);

}  // namespace inkling::cli

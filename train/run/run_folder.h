// OUT, the folder of a run: OUT/step-000500/ (a model folder with training_state.safetensors), OUT/latest and OUT/best
// (symbolic links), config.toml, metrics.jsonl, samples.jsonl, chain.jsonl, replayed.jsonl, run.json. A lock admits one
// run at a time. Run folders are untrusted: no file is written through a link in them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/check.h"

namespace inkling::train {

// The checkpoints in a folder, newest first; empty if the folder does not exist.
std::vector<std::filesystem::path> find_checkpoints(const std::filesystem::path& folder);

bool is_checkpoint(const std::string& name);                   // step-000500
std::size_t step_of(const std::filesystem::path& checkpoint);  // from its name
std::string checkpoint_name(std::size_t step);

bool holds_run(const std::filesystem::path& folder);  // whether it has a checkpoint or metrics

// Whether a new run in `run` removes or replaces this path, or a folder that it is in, also through links.
bool is_replaced(const std::filesystem::path& path, const std::filesystem::path& run);

struct Evaluated {
    std::filesystem::path folder;  // a checkpoint
    double val_loss;               // infinity if not evaluated

    std::string name() const { return folder.filename().string(); }
};

// The name of the checkpoint with the lowest validation loss, the earliest if equal; "" without an evaluation.
std::string best_of(const std::vector<Evaluated>& newest_first);

// A checkpoint that could not be saved.
struct NotSaved : Error {
    NotSaved(const std::string& what, const std::string& advice) : Error(what + ": " + advice), bare(what) {}
    std::string bare;  // without the advice, which is about flags of `inkling train`
};

class RunFolder {
  public:
    // Makes the folder if it does not exist, locks it, and removes leftovers of an interrupted save. Throws Error if it
    // cannot be written or another run holds it. Keeps the `keep` newest checkpoints (0: all) and those of the steps
    // `always`.
    explicit RunFolder(std::filesystem::path path, std::size_t keep = 2, std::vector<std::size_t> always = {});

    const std::filesystem::path& path() const { return path_; }
    void clear();  // removes the run in it, and nothing else

    std::vector<std::filesystem::path> checkpoints() const { return find_checkpoints(path_); }

    // Writes a checkpoint whole or not at all: `write` fills a temporary folder, which is synced and renamed to
    // step-NNNNNN. Then points `latest` to it and `best` to the checkpoint with the lowest validation loss, and removes
    // all others, except those to keep. Throws Error, naming the newest intact checkpoint.
    std::filesystem::path save(std::size_t step, const std::function<void(const std::filesystem::path&)>& write);

    // Repairs the links and removes old checkpoints when a run resumes from one: an interrupted save leaves links to
    // older ones. The next save removes those in `damaged`, which could not be loaded.
    void repair_links(const std::filesystem::path& from, const std::vector<std::filesystem::path>& damaged = {});

  private:
    struct Lock {
        explicit Lock(std::filesystem::path lock_path);
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
        std::filesystem::path path;
        int file;
    };

    void clear_unfinished() const;
    // Links the checkpoints up to a step, then removes old ones but `kept`, which must be readable.
    void settle(std::size_t newest, const std::string& kept) const;

    std::filesystem::path path_;
    std::size_t keep_;
    std::vector<std::size_t> always_;
    std::unique_ptr<Lock> lock_;
    std::vector<std::string> damaged_;  // names of checkpoints
};

}  // namespace inkling::train

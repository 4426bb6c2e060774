// OUT, the folder of a run: OUT/step-000500/ (a model folder with training_state.safetensors beside), OUT/latest and
// OUT/best (symbolic links), config.toml, metrics.jsonl, samples.jsonl, run.json. One run at a time: the folder is
// locked while in use.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace inkling::train {

// The checkpoints in a folder, newest first; none when there is no such folder.
std::vector<std::filesystem::path> find_checkpoints(const std::filesystem::path& folder);

bool is_checkpoint(const std::string& name);                   // step-000500
std::size_t step_of(const std::filesystem::path& checkpoint);  // by its name

bool holds_run(const std::filesystem::path& folder);  // a checkpoint or metrics are there

struct Evaluated {
    std::filesystem::path folder;  // a checkpoint
    double val_loss;               // infinity: not evaluated

    std::string name() const { return folder.filename().string(); }
};

// The name of the one with the lowest validation loss, the first that had it; "": none was evaluated.
std::string best_of(const std::vector<Evaluated>& newest_first);

class RunFolder {
  public:
    // Makes the folder when it does not exist, locks it, and clears what an interrupted save has left. Throws Error
    // when it cannot be written or another run has it. `keep`: how many of the newest checkpoints stay.
    explicit RunFolder(std::filesystem::path path, std::size_t keep = 2);

    const std::filesystem::path& path() const { return path_; }
    bool holds_run() const { return train::holds_run(path_); }
    void clear();  // removes the run that it holds, and nothing else

    std::vector<std::filesystem::path> checkpoints() const { return find_checkpoints(path_); }

    // Writes a checkpoint whole or not at all: `write` fills a folder beside, which is synced and renamed to
    // step-NNNNNN. Then `latest` points to it, and `best` to the one with the lowest validation loss; checkpoints
    // older than the `keep` newest are removed, but for the best. Throws Error, with the checkpoint that is whole in
    // any case.
    std::filesystem::path save(std::size_t step, const std::function<void(const std::filesystem::path&)>& write);

    // Does the same for the checkpoints that are there, when a run goes on from one of them: a save that was cut off
    // leaves links to older ones. Those that could not be loaded are in `damaged`; the next save removes them.
    void mend(const std::filesystem::path& from, const std::vector<std::filesystem::path>& damaged = {});

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
    // Of the checkpoints up to a step: links, then removes what is too old. `kept` stays in any case; `saved` is that
    // one where it was read already.
    void settle(std::size_t newest, const std::string& kept, const std::optional<Evaluated>& saved = {}) const;

    std::filesystem::path path_;
    std::size_t keep_;
    std::unique_ptr<Lock> lock_;
    std::vector<std::string> damaged_;  // names of checkpoints
};

}  // namespace inkling::train

#include "train/run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <limits>

#include "engine/base/check.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/files/file_calls.h"
#include "train/run/checkpoint.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUnfinished = ".unfinished-";
constexpr const char* kFiles[] = {"metrics.jsonl",  "samples.jsonl", "chain.jsonl",
                                  "replayed.jsonl", "config.toml",   "run.json"};

Error unwritable(const fs::path& path, int error) {
    return Error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)));
}

// Opens and locks the lock file; returns -1 if another process holds it. A run removes its file while it holds the
// lock, so a file that was just locked may no longer be the one in the folder: then it tries again.
int take_lock(const fs::path& path) {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
        const int file =
            formats::retry([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666); });
        if (file < 0 && errno == ELOOP && ::unlink(path.c_str()) == 0) continue;  // a link: no run made it
        if (file < 0) throw unwritable(path.parent_path(), errno);
        if (flock(file, LOCK_EX | LOCK_NB) != 0) {
            close(file);
            return -1;
        }
        struct stat held {
        }, named{};
        int error = formats::refused_file_call("stat", path);
        if (error == 0 && (fstat(file, &held) != 0 || stat(path.c_str(), &named) != 0)) error = errno;
        if (error == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev) return file;
        close(file);
        if (error != 0 && error != ENOENT) throw unwritable(path, error);
    }
    return -1;
}

// The checkpoints whose headers can be read, newest first. Others are left alone: a disk that fails for a moment must
// not cost the best checkpoint.
std::vector<Evaluated> readable(const fs::path& folder, const std::vector<std::string>& damaged) {
    std::vector<Evaluated> found;
    for (const fs::path& checkpoint : find_checkpoints(folder)) {
        if (std::count(damaged.begin(), damaged.end(), checkpoint.filename().string()) > 0) continue;
        try {
            found.push_back({checkpoint, stored_state(checkpoint).val_loss});
        } catch (const Error&) {
        }
    }
    return found;
}

void link(const fs::path& folder, const std::string& name, const std::string& target) {
    std::error_code none;
    if (fs::read_symlink(folder / name, none) == target) return;
    const fs::path beside = folder / (kUnfinished + name);
    formats::remove_tree(beside);
    if (target.empty()) {
        if (fs::is_symlink(folder / name, none)) formats::remove_tree(folder / name);
        return;
    }
    formats::make_link(target, beside);
    formats::rename_path(beside, folder / name);
    formats::sync_directory(folder);
}

// Renames it first, so that no partly removed checkpoint keeps its name.
void remove_checkpoint(const fs::path& checkpoint) {
    const fs::path beside = checkpoint.parent_path() / (kUnfinished + checkpoint.filename().string());
    formats::remove_tree(beside);
    formats::rename_path(checkpoint, beside);
    formats::remove_tree(beside);
}

void try_remove_checkpoint(const fs::path& checkpoint) {
    try {
        remove_checkpoint(checkpoint);
    } catch (const Error&) {  // a leftover does no harm
    }
}

}  // namespace

bool is_checkpoint(const std::string& name) {
    return name.starts_with("step-") && name.size() > 5 && name.size() < 24 &&
           std::all_of(name.begin() + 5, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::size_t step_of(const fs::path& checkpoint) { return std::stoull(checkpoint.filename().string().substr(5)); }

std::string checkpoint_name(std::size_t step) { return fmt::format("step-{:06}", step); }

std::string best_of(const std::vector<Evaluated>& newest_first) {
    std::string best;
    double lowest = std::numeric_limits<double>::max();
    for (const Evaluated& c : newest_first) {
        if (!(c.val_loss <= lowest)) continue;
        lowest = c.val_loss;
        best = c.name();
    }
    return best;
}

std::vector<fs::path> find_checkpoints(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code none;
    if (!fs::is_directory(folder, none)) return found;
    for (const std::string& name : formats::names_in(folder)) {
        if (is_checkpoint(name)) found.push_back(folder / name);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return step_of(a) > step_of(b); });
    return found;
}

bool holds_run(const fs::path& folder) {
    return !find_checkpoints(folder).empty() || formats::is_there(folder / "metrics.jsonl");
}

bool is_replaced(const fs::path& path, const fs::path& run) {
    const auto of_run = [](const std::string& name) {
        return std::find(std::begin(kFiles), std::end(kFiles), name) != std::end(kFiles) || name == "latest" ||
               name == "best" || name == ".lock" || is_checkpoint(name) || name.starts_with(kUnfinished) ||
               name.starts_with("tokens-");
    };
    std::error_code none;
    for (fs::path at : {fs::absolute(path), fs::canonical(path, none)})
        for (; at.has_relative_path(); at = at.parent_path())
            if (of_run(at.filename().string()) && fs::equivalent(at.parent_path(), run, none)) return true;
    return false;
}

RunFolder::Lock::Lock(fs::path lock_path) : path(std::move(lock_path)), file(take_lock(path)) {
    check(file >= 0, "{}: another run is writing there: choose another --out", path.parent_path().string());
}

RunFolder::Lock::~Lock() {
    ::unlink(path.c_str());  // before unlocking: see take_lock
    ::close(file);
}

RunFolder::RunFolder(fs::path path, std::size_t keep, std::vector<std::size_t> always)
    : path_(std::move(path)), keep_(keep), always_(std::move(always)) {
    std::error_code error;
    check(!fs::exists(path_, error) || fs::is_directory(path_, error), "{}: is a file: --out must name a directory",
          path_.string());
    error = {formats::refused_file_call("mkdir", path_), std::generic_category()};
    if (!error) fs::create_directories(path_, error);
    if (error) throw unwritable(path_, error.value());
    lock_ = std::make_unique<Lock>(path_ / ".lock");
    clear_unfinished();
}

void RunFolder::clear_unfinished() const {
    for (const std::string& name : formats::names_in(path_)) {
        if (!name.starts_with(kUnfinished)) continue;
        const fs::path checkpoint = path_ / name.substr(std::strlen(kUnfinished));
        const fs::path between = formats::between_exchange(path_ / name);
        std::error_code none;
        if (fs::exists(between, none) && !fs::exists(checkpoint, none)) formats::rename_path(between, checkpoint);
    }
    for (const std::string& name : formats::names_in(path_)) {
        const auto unfinished = [&](const char* of) { return formats::is_unfinished(name, of); };
        if (name.starts_with(kUnfinished) || std::any_of(std::begin(kFiles), std::end(kFiles), unfinished))
            formats::remove_tree(path_ / name);
    }
}

void RunFolder::clear() {
    for (const char* name : {"latest", "best"}) formats::remove_tree(path_ / name);
    for (const char* name : kFiles) formats::remove_tree(path_ / name);
    for (const fs::path& checkpoint : checkpoints()) remove_checkpoint(checkpoint);
}

fs::path RunFolder::save(std::size_t step, const std::function<void(const fs::path&)>& write) {
    const std::string name = checkpoint_name(step);
    const fs::path target = path_ / name;
    try {
        formats::write_folder(target, path_ / (kUnfinished + name), write);
        std::erase(damaged_, name);
        settle(step, name);
    } catch (const Error& e) {
        if (std::error_code none; !fs::exists(path_, none))
            throw Error(fmt::format("{}: the folder of the run is gone", e.what()));
        const std::vector<Evaluated> whole = readable(path_, damaged_);  // others may be removing the folder just now
        if (!whole.empty())
            throw NotSaved(fmt::format("{}: {} is intact", e.what(), whole.front().name()),
                           "continue from it with --resume auto");
        const char* const advice = checkpoints().empty() ? "nothing was saved: free disk space and start again"
                                                         : "inkling verify shows which checkpoints are intact";
        throw Error(fmt::format("{}: {}", e.what(), advice));
    }
    for (const fs::path& checkpoint : checkpoints()) {
        const bool damaged = std::count(damaged_.begin(), damaged_.end(), checkpoint.filename().string()) > 0;
        if (damaged || step_of(checkpoint) > step)
            try_remove_checkpoint(checkpoint);  // later than the one that the run resumed from
    }
    damaged_.clear();
    return target;
}

void RunFolder::repair_links(const fs::path& from, const std::vector<fs::path>& damaged) {
    for (const fs::path& checkpoint : damaged) damaged_.push_back(checkpoint.filename().string());
    settle(std::numeric_limits<std::size_t>::max(), from.filename().string());
}

// Links come first: after a kill or a disk failure in between, the resumed run settles the rest.
void RunFolder::settle(std::size_t newest, const std::string& kept) const {
    std::vector<Evaluated> found = readable(path_, damaged_);
    std::erase_if(found, [&](const Evaluated& c) { return step_of(c.folder) > newest; });
    check(std::any_of(found.begin(), found.end(), [&](const Evaluated& c) { return c.name() == kept; }),
          "{}: cannot be read back", (path_ / kept).string());
    const std::string best = best_of(found);
    link(path_, "latest", found.front().name());
    link(path_, "best", best);
    for (std::size_t i = keep_ == 0 ? found.size() : keep_; i < found.size(); ++i) {
        const bool stays = found[i].name() == best || found[i].name() == kept ||
                           std::ranges::count(always_, step_of(found[i].folder)) > 0;
        if (!stays) try_remove_checkpoint(found[i].folder);
    }
}

}  // namespace inkling::train

#include "train/run_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/file.h"
#include "data/file_calls.h"
#include "engine/check.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUnfinished = ".unfinished-";

Error unwritable(const fs::path& path, const std::string& reason) {
    return Error(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

// Runs a file operation; what it throws becomes a message of ours.
template <class Operation>
void attempt(const char* call, const fs::path& path, const Operation& operation) {
    if (const int refused = data::refused_file_call(call, path)) throw unwritable(path, std::strerror(refused));
    try {
        operation();
    } catch (const fs::filesystem_error& e) {
        throw unwritable(path, e.code().message());
    }
}

// Two folders swap their names in one step; where the file system cannot, in two, with a moment without `b` between.
void exchange(const fs::path& a, const fs::path& b) {
    if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return;
    if (errno != EINVAL && errno != ENOSYS)
        throw fs::filesystem_error("", std::error_code(errno, std::generic_category()));
    const fs::path between = a.string() + "-old";
    fs::remove_all(between);
    fs::rename(b, between);
    fs::rename(a, b);
    fs::rename(between, a);
}

// The lock file, open and locked; -1: another process has it. A run removes its file while it still has the lock, so
// one that was waited for may no longer be the one in the folder: then it is tried again.
int take_lock(const fs::path& path) {
    for (;;) {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) throw unwritable(path.parent_path(), std::strerror(errno));
        struct stat held {
        }, named{};
        if (flock(file, LOCK_EX | LOCK_NB) != 0) {
            close(file);
            return -1;
        }
        const bool same = fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
                          held.st_dev == named.st_dev;
        if (same) return file;
        close(file);
    }
}

}  // namespace

bool is_checkpoint(const std::string& name) {
    return name.starts_with("step-") && name.size() > 5 && name.size() < 24 &&
           std::all_of(name.begin() + 5, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::size_t step_of(const fs::path& checkpoint) { return std::stoull(checkpoint.filename().string().substr(5)); }

std::vector<fs::path> find_checkpoints(const fs::path& folder) {
    std::vector<fs::path> found;
    if (!fs::is_directory(folder)) return found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (is_checkpoint(entry.path().filename().string())) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return step_of(a) > step_of(b); });
    return found;
}

bool holds_run(const fs::path& folder) {
    return !find_checkpoints(folder).empty() || fs::exists(folder / "metrics.jsonl");
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
    check(!fs::exists(path_) || fs::is_directory(path_), "{}: is a file: --out must name a directory", path_.string());
    attempt("mkdir", path_, [&] { fs::create_directories(path_); });
    lock_ = take_lock(path_ / ".lock");
    check(lock_ >= 0, "{}: another run is writing there: choose another --out", path_.string());
    attempt("remove", path_, [&] {
        for (const auto& entry : fs::directory_iterator(path_)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with(kUnfinished) || data::is_unfinished(name, "config.toml") ||
                data::is_unfinished(name, "metrics.jsonl"))
                fs::remove_all(entry.path());
        }
    });
}

RunFolder::~RunFolder() {
    std::error_code ignored;
    fs::remove(path_ / ".lock", ignored);  // before it is unlocked: see take_lock
    close(lock_);
}

void RunFolder::clear() {
    attempt("remove", path_, [&] {
        for (const char* name : {"latest", "best", "metrics.jsonl", "config.toml"}) fs::remove(path_ / name);
        for (const auto& folder : checkpoints()) fs::remove_all(folder);
    });
}

fs::path RunFolder::save(std::size_t step, bool is_best, const std::function<void(const fs::path&)>& write) {
    const std::string name = fmt::format("step-{:06}", step);
    const fs::path beside = path_ / (kUnfinished + name), target = path_ / name;
    try {
        attempt("mkdir", beside, [&] {
            fs::remove_all(beside);
            fs::create_directory(beside);
        });
        write(beside);
        data::sync_directory(beside);
        if (fs::exists(target)) {  // the same step saved again
            attempt("exchange", target, [&] { exchange(beside, target); });
        } else {
            attempt("rename", target, [&] { fs::rename(beside, target); });
        }
        data::sync_directory(path_);
        link("latest", name);
        if (is_best) link("best", name);
    } catch (const Error& e) {
        std::error_code ignored;
        fs::remove_all(beside, ignored);
        const auto whole = checkpoints();
        if (whole.empty()) throw Error(fmt::format("{}: nothing was saved yet: make room and begin anew", e.what()));
        throw Error(fmt::format("{}: {} is whole: go on from it with --resume auto", e.what(),
                                whole.front().filename().string()));
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(beside, ignored);
        throw;
    }
    std::error_code ignored;
    fs::remove_all(beside, ignored);  // what an exchange has left
    remove_old(step);
    return target;
}

void RunFolder::link(const std::string& name, const std::string& target) const {
    const fs::path beside = path_ / (kUnfinished + name);
    attempt("symlink", beside, [&] {
        fs::remove(beside);
        fs::create_directory_symlink(target, beside);
    });
    attempt("rename", path_ / name, [&] { fs::rename(beside, path_ / name); });
    data::sync_directory(path_);
}

// Later steps than the newest are of a run that was gone back from.
void RunFolder::remove_old(std::size_t newest) const {
    std::error_code none;
    const std::string best = fs::read_symlink(path_ / "best", none).string();
    std::size_t kept = 0;
    for (const auto& folder : checkpoints()) {
        const bool recent = step_of(folder) <= newest && kept++ < 2;
        if (recent || folder.filename() == best || data::refused_file_call("remove", folder)) continue;
        fs::remove_all(folder, none);  // one that stays is only untidy
    }
}

}  // namespace inkling::train

#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/file.h"
#include "engine/check.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUnfinished = ".unfinished-";

bool is_checkpoint(const std::string& name) {
    return name.starts_with("step-") && name.size() > 5 && name.size() < 24 &&
           std::all_of(name.begin() + 5, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

// Runs a file operation; what it throws becomes a message of ours.
template <class Operation>
void attempt(const fs::path& path, const Operation& operation) {
    try {
        operation();
    } catch (const fs::filesystem_error& e) {
        throw Error(fmt::format("{}: cannot be written: {}", path.string(), e.code().message()));
    }
}

}  // namespace

std::vector<fs::path> find_checkpoints(const fs::path& folder) {
    std::vector<fs::path> found;
    if (!fs::is_directory(folder)) return found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (is_checkpoint(entry.path().filename().string())) found.push_back(entry.path());
    }
    const auto step = [](const fs::path& p) { return std::stoull(p.filename().string().substr(5)); };
    std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return step(a) > step(b); });
    return found;
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
    check(!fs::exists(path_) || fs::is_directory(path_), "{}: is a file: --out must name a directory", path_.string());
    attempt(path_, [&] { fs::create_directories(path_); });
    const fs::path lock = path_ / ".lock";
    lock_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    check(lock_ >= 0, "{}: cannot be written: {}", path_.string(), std::strerror(errno));
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        close(lock_);
        throw Error(fmt::format("{}: another run is writing there: choose another --out", path_.string()));
    }
    attempt(path_, [&] {
        for (const auto& entry : fs::directory_iterator(path_)) {
            if (entry.path().filename().string().starts_with(kUnfinished)) fs::remove_all(entry.path());
        }
    });
}

RunFolder::~RunFolder() {
    std::error_code ignored;
    fs::remove(path_ / ".lock", ignored);
    close(lock_);  // and unlocks
}

bool RunFolder::holds_run() const { return !checkpoints().empty() || fs::exists(path_ / "metrics.jsonl"); }

void RunFolder::clear() {
    attempt(path_, [&] {
        for (const char* name : {"latest", "best", "metrics.jsonl", "config.toml"}) fs::remove(path_ / name);
        for (const auto& folder : checkpoints()) fs::remove_all(folder);
    });
}

fs::path RunFolder::save(std::size_t step, bool is_best, const std::function<void(const fs::path&)>& write) {
    const std::string name = fmt::format("step-{:06}", step);
    const fs::path beside = path_ / (kUnfinished + name), target = path_ / name;
    try {
        attempt(path_, [&] {
            fs::remove_all(beside);
            fs::create_directory(beside);
        });
        write(beside);
        data::sync_directory(beside);
        attempt(target, [&] {
            if (fs::exists(target)) {  // the same step saved again: the old one makes place only now
                const fs::path old = path_ / (kUnfinished + name + "-old");
                fs::remove_all(old);
                fs::rename(target, old);
                fs::rename(beside, target);
                fs::remove_all(old);
            } else {
                fs::rename(beside, target);
            }
        });
        data::sync_directory(path_);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(beside, ignored);
        throw;
    }
    link("latest", name);
    if (is_best) link("best", name);
    remove_old(name);
    return target;
}

void RunFolder::link(const std::string& name, const std::string& target) const {
    attempt(path_ / name, [&] {
        const fs::path beside = path_ / (kUnfinished + name);
        fs::remove(beside);
        fs::create_directory_symlink(target, beside);
        fs::rename(beside, path_ / name);
    });
    data::sync_directory(path_);
}

void RunFolder::remove_old(const std::string& newest) const {
    std::error_code none;
    const std::string best = fs::read_symlink(path_ / "best", none).string();
    std::size_t kept = 0;
    for (const auto& folder : checkpoints()) {
        const std::string name = folder.filename().string();
        const bool keep = kept < 2 || name == best || name == newest;
        ++kept;
        if (!keep) fs::remove_all(folder, none);  // one that stays is only untidy
    }
}

}  // namespace inkling::train

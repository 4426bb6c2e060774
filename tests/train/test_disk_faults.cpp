// Disk failures, and power failures at every single call: an intact checkpoint remains, not older than the last one
// reported as saved. A kill leaves more than a power failure does.
#include "formats/files/file_calls.h"
#include "tests/train/checkpoints.h"

namespace {

// While in scope, calls `f` before every call that changes a disk.
struct Asking {
    template <class F>
    explicit Asking(F f) {
        before_file_call = f;
    }
    ~Asking() { before_file_call = nullptr; }
};

std::string content(std::size_t step, const char* file) { return std::string(3000, 'a') + std::to_string(step) + file; }

// Odd steps are better than all before, even ones worse.
double val_loss(std::size_t step) { return step % 2 == 1 ? 1.0 / static_cast<double>(step) : 2; }

void save(RunFolder& folder, std::size_t step) {
    folder.save(step, [&](const fs::path& p) {
        for (const char* file : {"model", "state"}) write_file_atomic(p / file, content(step, file));
        write_state(p, val_loss(step));
    });
}

bool is_whole(const fs::path& checkpoint) {
    const std::size_t step = step_of(checkpoint);
    for (const char* file : {"model", "state"})
        if (!fs::exists(checkpoint / file) || read_file(checkpoint / file) != content(step, file)) return false;
    return true;
}

// The step of the newest intact checkpoint; 0 if there is none.
std::size_t newest_whole(const fs::path& folder) {
    for (const fs::path& checkpoint : find_checkpoints(folder))
        if (is_whole(checkpoint)) return step_of(checkpoint);
    return 0;
}

// Every link must lead to an intact checkpoint.
void check_links(const fs::path& folder) {
    for (const char* link : {"latest", "best"}) {
        if (!fs::is_symlink(fs::symlink_status(folder / link))) continue;
        INFO(link << " -> " << fs::read_symlink(folder / link));
        CHECK(is_whole(folder / fs::read_symlink(folder / link)));
    }
}

// The synced state of the files and folders below a folder, which is all that a disk is sure to keep. Keeps seen files
// open, so that the system does not reuse an inode number.
class SyncedDisk {
  public:
    explicit SyncedDisk(fs::path root) : root_(std::move(root)) { sync_folder(root_); }
    ~SyncedDisk() {
        for (const int file : open_) close(file);
    }

    void before(std::string_view call, const fs::path& path) {
        if (call == "fsync") contents_[number(path)] = read_file(path);
        if (call == "fsync directory") sync_folder(path);
    }

    // Writes the folder as after a power failure: synced contents, under the synced names, or the current names if
    // `eager`.
    void restore(const fs::path& to, bool eager) const { restore(root_, number_of_.at(root_.string()), to, eager); }

  private:
    struct Entry {
        ino_t number;
        fs::path link;  // where it leads
        bool folder;
    };
    using Entries = std::map<std::string, Entry>;

    ino_t number(const fs::path& path) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status {};
        REQUIRE(fstat(file, &status) == 0);
        open_.push_back(file);
        return number_of_[path.string()] = status.st_ino;
    }

    static Entries entries_of(const fs::path& folder) {
        Entries entries;
        for (const auto& e : fs::directory_iterator(folder)) {
            struct stat status {};
            lstat(e.path().c_str(), &status);
            const bool link = S_ISLNK(status.st_mode);
            entries[e.path().filename().string()] = {status.st_ino, link ? fs::read_symlink(e.path()) : "",
                                                     S_ISDIR(status.st_mode)};
        }
        return entries;
    }

    void sync_folder(const fs::path& folder) { folders_[number(folder)] = entries_of(folder); }

    void restore(const fs::path& from, ino_t folder, const fs::path& to, bool eager) const {
        fs::create_directory(to);
        const auto synced = folders_.find(folder);
        const Entries entries = eager ? entries_of(from) : synced == folders_.end() ? Entries{} : synced->second;
        for (const auto& [name, e] : entries) {
            if (e.folder) {
                restore(from / name, e.number, to / name, eager);
            } else if (!e.link.empty()) {
                fs::create_symlink(e.link, to / name);
            } else {
                const auto kept = contents_.find(e.number);
                std::ofstream(to / name) << (kept == contents_.end() ? "" : kept->second);
            }
        }
    }

    fs::path root_;
    std::map<std::string, ino_t> number_of_;
    std::map<ino_t, std::string> contents_;
    std::map<ino_t, Entries> folders_;
    std::vector<int> open_;
};

}  // namespace

TEST_CASE("disk faults: any call that fails, once or from then on, leaves the checkpoint before whole", "[train]") {
    for (const int error : {ENOSPC, EIO, EDQUOT})
        for (const bool persistent : {false, true})
            for (int n = 1;; ++n) {
                const ScratchFolder scratch;
                RunFolder folder(scratch.path());
                for (const std::size_t step : {1, 2, 3}) save(folder, step);
                int calls = 0;
                std::string failed_call, message;
                bool untidy = false;  // an old checkpoint that stays is no failure
                {
                    const Asking asking([&](std::string_view call, const fs::path& path) {
                        ++calls;
                        if (calls == n) failed_call = call;
                        if (calls == n)
                            untidy = call == "unlink" || call == "rmdir" ||
                                     (call == "rename" && path.filename().string().starts_with(".unfinished-step-"));
                        return calls == n || (persistent && calls > n) ? error : 0;
                    });
                    message = error_of<Error>([&] { save(folder, 4); });
                }
                INFO(std::strerror(error) << ", call " << n << ": " << failed_call << ": " << message);
                if (calls < n) break;
                if (!untidy)
                    CHECK_THAT(message, contains(scratch.path(), std::strerror(error),
                                                 " is intact: continue from it with --resume auto"));
                CHECK(newest_whole(scratch.path()) >= 3);
                check_links(scratch.path());
                for (const auto& checkpoint : folder.checkpoints()) CHECK(is_whole(checkpoint));
                for (const auto& entry : fs::recursive_directory_iterator(scratch.path()))
                    CHECK(entry.path().filename().string().find(".tmp.") == std::string::npos);
                save(folder, 5);  // once there is room again, the run can go on
                CHECK(newest_whole(scratch.path()) == 5);
            }
}

TEST_CASE("disk faults: after a kill or a power cut at any call, a run goes on from its last save", "[train]") {
    for (const bool exchanges : {true, false}) {  // whether the file system can swap two names in one step
        const ScratchFolder scratch;
        fs::create_directory(scratch.path("run"));
        SyncedDisk disk(scratch.path("run"));
        std::size_t said = 0, cuts = 0;
        bool resumes = false;
        RunFolder folder(scratch.path("run"));
        const Asking asking([&](std::string_view call, const fs::path& path) {
            if (resumes) return 0;
            for (const bool eager : {false, true}) {
                const ScratchFolder after;
                const fs::path run = after.path("run");
                disk.restore(run, eager);
                INFO("cut " << ++cuts << " before " << call << " " << path << ", after checkpoint " << said
                            << (eager ? ", names ahead of contents" : ""));
                const auto check_whole = [&] {
                    CHECK(newest_whole(run) >= said);
                    check_links(run);
                };
                if (exchanges) check_whole();
                resumes = true;
                const RunFolder next(run);
                resumes = false;
                check_whole();
                for (const fs::path& checkpoint : next.checkpoints()) CHECK(is_whole(checkpoint));
                for (const auto& entry : fs::directory_iterator(run))
                    CHECK_FALSE(entry.path().filename().string().starts_with(".unfinished"));
            }
            disk.before(call, path);
            return call == "exchange" && !exchanges ? EINVAL : 0;
        });
        for (const std::size_t step : {1, 2, 3, 4, 4, 5}) {
            save(folder, step);
            said = step;
        }
        CHECK(cuts > 100);
    }
}

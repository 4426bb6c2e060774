// FileWriter and what is built on it: formats/files/file.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/files/file_calls.h"

namespace inkling::formats {
namespace {

namespace fs = std::filesystem;

// A name beside the target that no other writer has; a long name is cut so that the whole stays under 255 bytes.
fs::path temporary_name(const fs::path& target) {
    static std::atomic<unsigned> count{0};
    const std::string name(cut_text(target.filename().native(), 200));
    return target.parent_path() / fmt::format(".{}.tmp.{}.{}", name, ::getpid(), count++);
}

thread_local bool synced_later = false;  // in write_folder

void sync_path(const fs::path& path, const char* call) {
    const int fd = retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    int error = error_of(fd);
    if (error == 0) {
        error = error_of_change(call, path, [&] { return ::fsync(fd); });
        ::close(fd);
    }
    if (error == EINVAL && fs::is_directory(path)) error = 0;  // a file system without it
    require_done("write", path, error);
}

}  // namespace

bool is_unfinished(const std::string& name, const std::string& of) { return name.starts_with("." + of + ".tmp."); }

void write_file_atomic(const fs::path& path, std::string_view content, Links links) {
    FileWriter file(path, links);
    file.write(content.data(), content.size());
    file.commit();
}

void sync_directory(const fs::path& directory) {
    sync_path(directory.empty() ? fs::path(".") : directory, "fsync directory");
}

void write_folder(const fs::path& folder, const fs::path& beside, const std::function<void(const fs::path&)>& fill) {
    auto end = [](const fs::path* path) { synced_later = false, try_remove_tree(*path); };
    const std::unique_ptr<const fs::path, decltype(end)> unfinished(&beside, end);  // in any case
    remove_tree(beside);
    make_directory(beside);
    synced_later = true;
    fill(beside);
    synced_later = false;
    for (const std::string& name : names_in(beside)) sync_path(beside / name, "fsync");
    sync_directory(beside);
    std::error_code none;
    fs::exists(folder, none) ? exchange_paths(beside, folder) : rename_path(beside, folder);
    sync_directory(folder.parent_path());
}

FileWriter::FileWriter(const fs::path& path, Links links) : path_(path), target_(path) {
    check(path.native().find('\0') == std::string::npos, "cannot write {}...: its name has a NUL byte: rename it",
          path.c_str());
    struct stat old = {};
    const bool follow = links == Links::followed;
    const int error = error_of(follow ? ::stat(path.c_str(), &old) : ::lstat(path.c_str(), &old));
    require(error == ENOENT ? 0 : error);
    require((error == 0 && S_ISDIR(old.st_mode)) || !path.has_filename() ? EISDIR : 0);
    const bool exists = error == 0 && (follow || S_ISREG(old.st_mode));
    if (exists && !S_ISREG(old.st_mode)) {
        fd_ = retry([&] { return ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC); });
        require(error_of(fd_));
        return;
    }
    std::error_code unresolved;
    if (follow && exists && fs::is_symlink(path, unresolved)) target_ = fs::canonical(path, unresolved);
    require(unresolved.value());
    const mode_t mode = exists ? old.st_mode & 0777 : 0666;
    do {
        temp_ = temporary_name(target_);
        fd_ = retry([&] { return ::open(temp_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
    } while (fd_ == -1 && errno == EEXIST);  // left by a dead process that had our number
    int opened = error_of(fd_);
    if (opened == 0) opened = refused_file_call("open", temp_);
    if (fd_ == -1) temp_.clear();
    require(opened);
    if (exists) require(error_of(::fchmod(fd_, mode)));
}

FileWriter::~FileWriter() { discard(); }

void FileWriter::write(const void* data, std::size_t size) {
    const char* next = static_cast<const char*>(data);
    while (size > 0) {  // the system may take less than it is given
        ssize_t taken = 0;
        require(
            error_of_change("write", temp_, [&] { return taken = retry([&] { return ::write(fd_, next, size); }); }));
        next += taken;
        size -= static_cast<std::size_t>(taken);
    }
}

void FileWriter::commit() {
    const bool direct = temp_.empty();
    if (!direct && !synced_later) require(error_of_change("fsync", temp_, [&] { return ::fsync(fd_); }));
    const int closed = error_of_change("close", temp_, [&] { return ::close(std::exchange(fd_, -1)); });
    require(closed == EINTR ? 0 : closed);  // it is closed all the same, and was synced before
    if (direct) return;
    require(error_of_change("rename", temp_, [&] { return ::rename(temp_.c_str(), target_.c_str()); }));
    temp_.clear();
    if (!synced_later) sync_directory(target_.parent_path());
}

void FileWriter::require(int error) {
    if (error == 0) return;
    discard();
    require_done("write", path_, error);
}

void FileWriter::discard() noexcept {
    if (fd_ != -1) ::close(std::exchange(fd_, -1));
    if (!temp_.empty()) ::unlink(temp_.c_str());
    temp_.clear();
}

}  // namespace inkling::formats

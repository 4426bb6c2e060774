#include "formats/files/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "formats/files/file_calls.h"

namespace inkling::formats {
namespace {

namespace fs = std::filesystem;

template <class Call>
void change(const char* name, const fs::path& path, Call call) {
    require_done("write", path, error_of_change(name, path, call));
}

struct Close {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

std::vector<std::string> names_in(const fs::path& directory) {
    const std::unique_ptr<DIR, Close> open(::opendir(directory.c_str()));
    if (!open && errno == ENOMEM) throw std::bad_alloc();
    require_done("read", directory, open ? 0 : errno);
    std::vector<std::string> names;
    for (errno = 0;; errno = 0) {
        const dirent* const entry = ::readdir(open.get());
        if (!entry) break;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    require_done("read", directory, errno);
    std::sort(names.begin(), names.end());
    return names;
}

void make_directory(const fs::path& path) {
    change("mkdir", path, [&] { return ::mkdir(path.c_str(), 0777); });
}

void make_link(const std::string& target, const fs::path& path) {
    change("symlink", path, [&] { return ::symlink(target.c_str(), path.c_str()); });
}

void rename_path(const fs::path& from, const fs::path& to) {
    change("rename", to, [&] { return ::rename(from.c_str(), to.c_str()); });
}

fs::path between_exchange(const fs::path& a) { return a.string() + "-old"; }

void exchange_paths(const fs::path& a, const fs::path& b) {
    const int error = error_of_change(
        "exchange", b, [&] { return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE); });
    if (error == 0) return;
    if (error != EINVAL && error != ENOSYS) require_done("write", b, error);
    const fs::path between = between_exchange(a);
    remove_tree(between);
    rename_path(b, between);
    rename_path(a, b);
    rename_path(between, a);
}

void remove_tree(const fs::path& path) {
    const int file = error_of_change("unlink", path, [&] { return ::unlink(path.c_str()); });
    if (file == 0 || file == ENOENT) return;
    struct stat status {};
    const bool directory =
        (file == EISDIR || file == EPERM) && ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    if (!directory) require_done("remove", path, file);
    for (const std::string& name : names_in(path)) remove_tree(path / name);
    require_done("remove", path, error_of_change("rmdir", path, [&] { return ::rmdir(path.c_str()); }));
}

bool try_remove_tree(const fs::path& path) noexcept {
    try {
        remove_tree(path);
    } catch (...) {
        return false;
    }
    return true;
}

}  // namespace inkling::formats

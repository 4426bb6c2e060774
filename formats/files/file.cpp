#include "formats/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "engine/base/check.h"
#include "formats/files/file_calls.h"

namespace inkling::formats {
namespace {

namespace fs = std::filesystem;

// The kind of a file that is neither regular nor a folder; else nullptr.
const char* special_kind(mode_t mode) {
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    return S_ISREG(mode) || S_ISDIR(mode) ? nullptr : "a device";
}

void require_readable(const fs::path& path, int error) {
    if (error != 0) check<BadInput>(false, "cannot read {}: {}", path.string(), reason(error));
}

// stat, or the errno.
int look_at(const fs::path& path, struct stat& status) {
    const bool whole = path.native().find('\0') == std::string::npos;  // else the system would take it for another name
    check<BadInput>(whole, "cannot read {}...: its name has a NUL byte: rename it", path.c_str());
    return error_of(::stat(path.c_str(), &status));
}

// An open regular file to read, closed at the end of its scope.
struct Input {
    const fs::path& path;
    int fd = -1;
    struct stat status = {};

    explicit Input(const fs::path& p) : path(p) {
        require_readable(path, look_at(path, status));
        require_regular();  // before it is opened: opening a FIFO waits for a writer, opening a tape rewinds it
        fd = retry([&] { return ::open(p.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
        require_readable(path, error_of(fd));
        try {
            require_readable(path, error_of(::fstat(fd, &status)));
            require_regular();  // another may have its name by now
        } catch (...) {
            ::close(fd);
            throw;
        }
    }
    ~Input() { ::close(fd); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    void require_regular() const {
        if (S_ISDIR(status.st_mode)) require_readable(path, EISDIR);
        const char* const special = special_kind(status.st_mode);
        check<BadInput>(!special, "cannot read {}: it is {}: name a regular file", path.string(),
                        special ? special : "");
    }

    std::uint64_t size() const { return static_cast<std::uint64_t>(status.st_size); }

    // Up to the end, whatever size the system gave beforehand: files in /proc have none.
    std::string read_all(const FileKind& kind) const {
        const auto require_size = [&](std::uint64_t bytes, const char* more) {
            check<BadInput>(bytes <= kind.limit, "cannot read {}: it has {} bytes{}: the limit for {} is {} MB",
                            path.string(), bytes, more, kind.name, kind.limit >> 20);
        };
        require_size(size(), "");
        std::string content(size() + 1, '\0');
        std::size_t used = 0;
        for (;;) {
            if (used == content.size()) content.resize(std::max<std::size_t>(65536, 2 * content.size()));
            const ssize_t got = retry([&] { return ::read(fd, content.data() + used, content.size() - used); });
            require_readable(path, error_of(got));
            if (got == 0) break;
            used += static_cast<std::size_t>(got);
            require_size(used, " and more");
        }
        content.resize(used);
        return content;
    }
};

}  // namespace

std::string read_file(const fs::path& path, const FileKind& kind) { return Input(path).read_all(kind); }

bool is_there(const fs::path& path) {
    struct stat status = {};
    const int error = look_at(path, status);
    require_readable(path, error == ENOENT || error == ENOTDIR ? 0 : error);
    return error == 0;
}

bool is_folder(const fs::path& path) {
    struct stat status = {};
    return is_there(path) && look_at(path, status) == 0 && S_ISDIR(status.st_mode);
}

void refuse_other_form(const fs::path& path, std::initializer_list<const char*> others, const char* python) {
    const std::string folder = path.parent_path().string();
    const bool plain = std::all_of(folder.begin(), folder.end(), [](unsigned char c) {
        return std::isalnum(c) || c >= 0x80 || std::strchr("-_./+ ", c);
    });
    for (const char* const other : others)
        check<BadInput>(is_there(path) || !is_there(path.parent_path() / other),
                        "{}: holds {}, which is not read, and no {}: convert it with python3 -c \"{}\"", folder, other,
                        path.filename().string(), fmt::format(fmt::runtime(python), plain ? folder : "FOLDER"));
}

bool has_hole(const fs::path& path) {
    const Input input(path);
    const off_t hole = ::lseek(input.fd, 0, SEEK_HOLE);  // -1: the file is empty, or its file system has no such call
    return hole >= 0 && hole < input.status.st_size;
}

MappedFile::MappedFile(int fd, std::size_t size) {
    if (size == 0) return;
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    check(mapped != MAP_FAILED, "a file of {} bytes cannot be mapped: {}", size, reason(errno));
    owner_ = std::shared_ptr<const void>(mapped, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
    bytes_ = {static_cast<const std::byte*>(mapped), size};
    mapped_ = true;
}

void MappedFile::release(const std::byte* from, std::size_t size) const {
    if (!mapped_) return;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto offset = static_cast<std::size_t>(from - data());
    const std::size_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
    // a refusal costs memory alone
    if (begin < end) ::madvise(const_cast<std::byte*>(data() + begin), end - begin, MADV_DONTNEED);
}

MappedFile::MappedFile(const fs::path& path) {
    const Input input(path);
    if (input.size() > 0) {
        try {
            *this = MappedFile(input.fd, input.size());
            return;
        } catch (const Error&) {  // then it is read
        }
    }
    const auto content = std::make_shared<const std::string>(input.read_all(FileKind::any));
    owner_ = content;
    bytes_ = std::as_bytes(std::span(*content));
}

}  // namespace inkling::formats

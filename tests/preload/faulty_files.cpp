// For LD_PRELOAD: makes the program's own reads and writes faulty (not those of system libraries).
//   INKLING_FAIL_READ=N       the N-th reading call (open, stat, fstat, read, mmap) fails with EIO;
//                             mmap with ENODEV, as on a file system without it
//   INKLING_FAIL_READS_AFTER  and all that follow
//   INKLING_SHORT_FILES       read and write transfer one byte at a time, except on terminals and pipes
//   INKLING_EINTR             every other read, write and open is interrupted
// Writes the call's name into the file INKLING_FAILED_READ once a call has failed.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

// The code of the program, and of its library if that is shared.
struct Range {
    std::uintptr_t begin, end;
} code[2] = {};
int ranges = 0;
long fails = 0;
bool and_all_after = false, short_files = false, interrupted = false;
std::atomic<long> count = 0;
thread_local bool interrupt_next = false;

int find_code(dl_phdr_info* info, std::size_t, void*) {  // the first is the program
    if (ranges > 0 && !std::strstr(info->dlpi_name, "/libinkling.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        code[ranges++] = {begin, begin + part.p_memsz};
        break;
    }
    return ranges == 2;
}

__attribute__((constructor)) void begin() {
    if (const char* const n = std::getenv("INKLING_FAIL_READ")) fails = std::strtol(n, nullptr, 10);
    and_all_after = std::getenv("INKLING_FAIL_READS_AFTER") != nullptr;
    short_files = std::getenv("INKLING_SHORT_FILES") != nullptr;
    interrupted = std::getenv("INKLING_EINTR") != nullptr;
    dl_iterate_phdr(find_code, nullptr);
}

bool of_program(void* caller) {
    const auto from = reinterpret_cast<std::uintptr_t>(caller);
    for (const Range& range : code)
        if (from >= range.begin && from < range.end) return true;
    return false;
}

template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool interrupts() {
    if (!interrupted) return false;
    interrupt_next = !interrupt_next;
    if (interrupt_next) errno = EINTR;
    return interrupt_next;
}

bool fail(const char* call, int error = EIO) {
    if (fails == 0) return false;
    const long now = ++count;
    if (now < fails || (now > fails && !and_all_after)) return false;
    if (now == fails) {
        if (const char* const path = std::getenv("INKLING_FAILED_READ")) {
            const int mark = real<int (*)(const char*, int, ...)>("open")(path, O_WRONLY | O_CREAT, 0666);
            if (real<ssize_t (*)(int, const void*, std::size_t)>("write")(mark, call, std::strlen(call)) < 0)
                _exit(125);
            close(mark);
        }
    }
    errno = error;
    return true;
}

bool is_short(int fd) {
    struct stat status = {};
    return short_files && real<int (*)(int, struct stat*)>("fstat")(fd, &status) == 0 && S_ISREG(status.st_mode);
}

int open_as(const char* name, const char* path, int flags, mode_t mode, void* caller) {
    if (of_program(caller)) {
        if (interrupts()) return -1;
        if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) == 0 && fail("open")) return -1;
    }
    return real<int (*)(const char*, int, ...)>(name)(path, flags, mode);
}

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_as("open", path, flags, mode, __builtin_return_address(0));
}

extern "C" int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_as("open64", path, flags, mode, __builtin_return_address(0));
}

extern "C" ssize_t read(int fd, void* to, std::size_t size) {
    static const auto next = real<ssize_t (*)(int, void*, std::size_t)>("read");
    if (of_program(__builtin_return_address(0))) {
        if (interrupts() || fail("read")) return -1;
        if (size > 1 && is_short(fd)) size = 1;
    }
    return next(fd, to, size);
}

extern "C" ssize_t write(int fd, const void* from, std::size_t size) {
    static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
    if (of_program(__builtin_return_address(0))) {
        if (interrupts()) return -1;
        if (size > 1 && is_short(fd)) size = 1;
    }
    return next(fd, from, size);
}

extern "C" int stat(const char* path, struct stat* status) noexcept {
    static const auto next = real<int (*)(const char*, struct stat*)>("stat");
    return of_program(__builtin_return_address(0)) && fail("stat") ? -1 : next(path, status);
}

extern "C" int fstat(int fd, struct stat* status) noexcept {
    static const auto next = real<int (*)(int, struct stat*)>("fstat");
    return of_program(__builtin_return_address(0)) && fail("fstat") ? -1 : next(fd, status);
}

extern "C" void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
    static const auto next = real<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
    const bool of_file = fd >= 0 && of_program(__builtin_return_address(0));
    return of_file && fail("mmap", ENODEV) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

// For LD_PRELOAD: makes the program's allocation number INKLING_FAIL_ALLOCATION fail, and with
// INKLING_FAIL_ALLOCATIONS_AFTER all that follow. A number -n fails none until a SIGUSR1, which begins to count again
// and makes number n + 1 fail; the next SIGUSR1, number n + 2. Does not count or fail the allocations of system
// libraries, which have their own ways to end. Writes the file INKLING_FAILED_ALLOCATION once an allocation has failed.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" void* __libc_malloc(std::size_t size);

namespace {

using AlignedAlloc = void* (*)(std::size_t, std::size_t);

std::uintptr_t program_begin = 0, program_end = 0;  // of its code; 0: not known yet
std::atomic<long> fails = 0, before = 0;            // fails: 0: none; before: the last one before the next SIGUSR1
bool and_all_after = false;
std::atomic<long> count = 0;

int find_program(dl_phdr_info* info, std::size_t, void*) {  // the first is the program
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        program_begin = info->dlpi_addr + part.p_vaddr;
        program_end = program_begin + part.p_memsz;
    }
    return 1;
}

__attribute__((constructor)) void begin() {
    const char* const n = std::getenv("INKLING_FAIL_ALLOCATION");
    if (n == nullptr) return;
    fails = std::strtol(n, nullptr, 10);
    and_all_after = std::getenv("INKLING_FAIL_ALLOCATIONS_AFTER") != nullptr;
    if (fails <= 0) {
        before = -fails;
        fails = 0;
        signal(SIGUSR1, [](int) {
            count = 0;
            fails = ++before;
        });
    }
    dl_iterate_phdr(find_program, nullptr);
}

bool fail(void* caller) {
    const auto from = reinterpret_cast<std::uintptr_t>(caller);
    if (from < program_begin || from >= program_end || fails == 0) return false;
    const long now = ++count;
    if (now < fails || (now > fails && !and_all_after)) return false;
    if (now == fails) {
        if (const char* const mark = std::getenv("INKLING_FAILED_ALLOCATION"))
            close(open(mark, O_WRONLY | O_CREAT, 0666));
    }
    errno = ENOMEM;
    return true;
}

}  // namespace

extern "C" void* malloc(std::size_t size) { return fail(__builtin_return_address(0)) ? nullptr : __libc_malloc(size); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
    static const auto real = reinterpret_cast<AlignedAlloc>(dlsym(RTLD_NEXT, "aligned_alloc"));
    return fail(__builtin_return_address(0)) ? nullptr : real(alignment, size);
}

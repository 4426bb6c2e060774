#include "cli/out_of_memory.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cli/common.h"
#include "engine/memory.h"

// The standard library's operators, with an exception that says how much was asked for. The sanitizers have their own.
// Where only one of a pair is inlined, the compiler takes the pair for mismatched.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const p = std::malloc(size > 0 ? size : 1);
    if (!p) throw inkling::OutOfMemory(size);
    return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace inkling::cli {
namespace {

[[noreturn]] void end_program() {
    if (std::current_exception()) {
        try {
            throw;
        } catch (const std::bad_alloc& e) {
            _exit(fail_out_of_memory(e));
        } catch (...) {
        }
    }
    std::abort();
}

// Before all other static objects of the program.
struct EndHandler {
    EndHandler() noexcept { std::set_terminate(end_program); }
};
[[maybe_unused]] __attribute__((init_priority(101))) const EndHandler end_handler;

}  // namespace

int fail_out_of_memory(const std::bad_alloc& e) noexcept {
    static std::atomic_flag told;  // what the program does to end may run out of memory again
    if (told.test_and_set()) return kRunFailed;
    char line[256];
    const int size = std::snprintf(line, sizeof line, "inkling: %s: choose a smaller model, batch or context\n",
                                   dynamic_cast<const OutOfMemory*>(&e) ? e.what() : "out of memory");
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, static_cast<std::size_t>(size));
    return kRunFailed;
}

}  // namespace inkling::cli

// inkling: trains small language models, writes text with them, and checks its own gradients. This file changes what
// only a program may change, not a library: operator new, and the end of the program after an uncaught exception.
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "cli/common.h"
#include "cli/program.h"
#include "engine/process/memory.h"

// The standard library's operators, with an exception that holds the requested size. The sanitizers have their own.
// noinline, because the compiler takes a pair for mismatched if it inlines only one of them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const p = std::malloc(size > 0 ? size : 1);
    if (!p) throw inkling::OutOfMemory(size);
    return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

[[noreturn]] void end_program() {
    if (std::current_exception()) {
        try {
            throw;
        } catch (const std::bad_alloc& e) {
            _exit(inkling::cli::fail_out_of_memory(e));
        } catch (...) {
        }
    }
    std::abort();
}

// Initialized before all other static objects of the program.
struct EndHandler {
    EndHandler() noexcept { std::set_terminate(end_program); }
};
[[maybe_unused]] __attribute__((init_priority(101))) const EndHandler end_handler;

}  // namespace

int main(int argc, char** argv) { return inkling::cli::run_program(argc, argv, argv); }

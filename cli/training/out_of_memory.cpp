#include "cli/training/out_of_memory.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "cli/common.h"
#include "engine/process/memory.h"

namespace inkling::cli {

int fail_out_of_memory(const std::bad_alloc& e) noexcept {
    static std::atomic_flag told;  // ending the program may run out of memory again
    if (told.test_and_set()) return kRunFailed;
    char line[256];
    const int size = std::snprintf(line, sizeof line, "inkling: %s: choose a smaller model, batch or context\n",
                                   dynamic_cast<const OutOfMemory*>(&e) ? e.what() : "out of memory");
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, static_cast<std::size_t>(size));
    return kRunFailed;
}

}  // namespace inkling::cli

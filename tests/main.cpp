// The test program's main. Exit codes: 0 passed; 1 a test failed, or no test has the given name; 4 every test that ran
// skipped itself, which ctest counts as skipped. Catch2's own exit codes are numbers of failed assertions, which could
// equal the code for skipped.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "tests/skip.h"

namespace {

constexpr int kSkipped = 4;  // the code that catch_discover_tests of Catch2 3.7 gives to ctest by itself

#ifdef CATCH_CONFIG_RUNNER
using Listener = Catch::TestEventListenerBase;
#else
using Listener = Catch::EventListenerBase;
#endif

std::optional<Catch::Counts> tests;  // of the run; none when they were only listed

struct CountTests : Listener {
    using Listener::Listener;
    void testRunEnded(const Catch::TestRunStats& run) override { tests = run.totals.testCases; }
};
CATCH_REGISTER_LISTENER(CountTests)

// Tests sync many small files, which takes a hundred times longer on a disk than in memory.
void keep_files_in_memory() {
    constexpr const char* kMemory = "/dev/shm";
    std::error_code error;
    const auto space = std::filesystem::space(kMemory, error);
    if (!error && space.available > (std::uintmax_t{2} << 30)) setenv("TMPDIR", kMemory, 0);
}

}  // namespace

int main(int argc, char** argv) {
    keep_files_in_memory();
    const int code = Catch::Session().run(argc, argv);
    if (!tests) return code;
    const auto skipped = static_cast<decltype(tests->failed)>(inkling::testing::skipped_tests());
    if (tests->failed == 0 && skipped > 0 && skipped == tests->total()) return kSkipped;
    return tests->total() == 0 ? 1 : std::min(code, 1);
}

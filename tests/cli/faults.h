// Runs the program with faults that a library of tests/preload makes:
//   each_fault(kFaultyFiles, "READ", words("info --model", run), [](long n) { return n + 1; }, [] {},
//              [](const Result& r, bool after) { CHECK_FALSE(r.killed); });
#pragma once

#include "tests/cli/program.h"

namespace inkling::testing {

// Makes call number 1, next(1), ... of a kind fail, alone and then with all after it (`after`), until the program makes
// fewer calls: the number of the first that is not made. Calls `prepare` before each run, and `check` after each in
// which a call has failed.
template <class Next, class Prepare, class Check>
void each_fault(const std::string& library, const std::string& kind, const Arguments& arguments, const Next& next,
                const Prepare& prepare, const Check& check) {
    for (const bool after : {false, true})
        for (long n = 1;; n = next(n)) {
            prepare();
            const ScratchFolder folder;
            const std::string mark = folder.path("mark");
            Variables variables = {
                {"LD_PRELOAD", library}, {"INKLING_FAIL_" + kind, std::to_string(n)}, {"INKLING_FAILED_" + kind, mark}};
            if (after) variables.emplace_back("INKLING_FAIL_" + kind + "S_AFTER", "1");
            const Result r = program_with(variables, arguments);
            INFO(kind << " " << n << (after ? " and all after it" : "") << ": exit code " << r.code << ": " << r.err);
            if (!fs::exists(mark)) {
                CHECK_ALL(n > 10, r.code == 0);
                break;
            }
            check(r, after);
        }
}

}  // namespace inkling::testing

// Ends a test that cannot run on this machine. It counts as skipped, not as passed (see main.cpp):
//   if (!exists(path)) SKIP_TEST(path << " is not here");
#pragma once

#include <iostream>
#include <sstream>

#include "tests/catch.h"

namespace inkling::testing {

// The number of skipped tests in this process.
inline int& skipped_tests() {
    static int count = 0;
    return count;
}

// ./check counts these lines, since ctest reports a test file as skipped only if all of its tests were.
inline void note_skip(const std::string& why) {
    ++skipped_tests();
    std::cout << "skipped: " << Catch::getResultCapture().getCurrentTestName() << ": " << why << std::endl;
}

}  // namespace inkling::testing

#ifdef SKIP  // Catch2 version 3
#define SKIP_TEST(why)                                                    \
    do {                                                                  \
        inkling::testing::note_skip((std::ostringstream() << why).str()); \
        SKIP();                                                           \
    } while (false)
#else  // version 2 counts a test that throws this as passed, if nothing failed before
#define SKIP_TEST(why)                                                    \
    do {                                                                  \
        inkling::testing::note_skip((std::ostringstream() << why).str()); \
        SUCCEED();                                                        \
        throw Catch::TestFailureException();                              \
    } while (false)
#endif

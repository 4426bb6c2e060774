// A test that cannot run on this machine ends itself, and counts as skipped, not as passed (see main.cpp):
//   if (!exists(path)) SKIP_TEST(path << " is not here");
#pragma once

#include <iostream>
#include <sstream>

#include "tests/catch.h"

namespace inkling::testing {

// How many tests of this process have done so.
inline int& skipped_tests() {
    static int count = 0;
    return count;
}

// ./check counts these lines, since ctest reports a test file as skipped only when all of its tests were.
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
#else  // version 2 ends a test that throws this as one that passed, if nothing has failed before
#define SKIP_TEST(why)                                                    \
    do {                                                                  \
        inkling::testing::note_skip((std::ostringstream() << why).str()); \
        SUCCEED();                                                        \
        throw Catch::TestFailureException();                              \
    } while (false)
#endif

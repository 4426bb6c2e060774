// Waits for what another thread or process does:
//   wait_until([&] { return fs::exists(path); });                       // a minute at most
//   CHECK(within(10, [&] { return processes_of(run).empty(); }));
#pragma once

#include <chrono>
#include <thread>

#include "tests/catch.h"

namespace inkling::testing {

// Whether the condition becomes true. Counts naps, not time, so that it does not give up after a pause of the machine.
template <class Condition>
bool within(double seconds, const Condition& condition) {
    for (int naps = static_cast<int>(seconds * 500); naps > 0; --naps) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return condition();
}

template <class Condition>
void wait_until(const Condition& condition) {
    REQUIRE(within(60, condition));
}

}  // namespace inkling::testing

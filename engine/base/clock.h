// Time that passes, for measuring: never the time of day, which may be set.
#pragma once

#include <chrono>

namespace inkling {

// Seconds since some moment.
inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace inkling

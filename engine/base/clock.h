// A monotonic clock, for measuring.
#pragma once

#include <chrono>

namespace inkling {

// Seconds since an arbitrary start.
inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace inkling

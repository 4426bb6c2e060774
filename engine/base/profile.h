// Profiles ops with a lap timer: every op ends in record(), and every backward in backward(), so the time since the
// last lap belongs to the op that just ended, and the laps of a step add up to the step.
//   profile::start();   ... a few steps ...   for (const auto& [op, lap] : profile::stop()) ...
// Each thread profiles its own ops. When off, a call costs one test of a flag.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace inkling::profile {

struct Lap {
    std::uint64_t calls = 0;
    double seconds = 0;
    double flops = 0;  // of matrix products, a multiply-add counted as 2
    double bytes = 0;  // read and written by loops that are not products
};

extern constinit thread_local bool active;
extern constinit thread_local bool inside_op;  // ops of this thread are parts of another: they end no lap

void start();
std::map<std::string, Lap> stop();  // by op; backward under "op'"

void end_lap(const char* op, bool backward);
void add(double flops, double bytes);

inline void lap(const char* op, bool backward = false) {
    if (active && !inside_op) end_lap(op, backward);
}
inline void count_flops(double flops) {
    if (active) add(flops, 0);
}
inline void count_bytes(double bytes) {
    if (active) add(0, bytes);
}

}  // namespace inkling::profile

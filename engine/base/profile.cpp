#include "engine/base/profile.h"

#include <chrono>
#include <utility>

namespace inkling::profile {
namespace {

using Clock = std::chrono::steady_clock;

thread_local std::map<std::string, Lap> laps;
thread_local Lap current;
thread_local Clock::time_point last;

}  // namespace

constinit thread_local bool active = false;
constinit thread_local bool inside_op = false;

void start() {
    laps.clear();
    current = {};
    last = Clock::now();
    active = true;
}

std::map<std::string, Lap> stop() {
    active = false;
    return std::exchange(laps, {});
}

void end_lap(const char* op, bool backward) {
    const auto now = Clock::now();
    Lap& lap = laps[backward ? std::string(op) + "'" : op];
    ++lap.calls;
    lap.seconds += std::chrono::duration<double>(now - last).count();
    lap.flops += current.flops;
    lap.bytes += current.bytes;
    current = {};
    last = Clock::now();
}

void add(double flops, double bytes) {
    current.flops += flops;
    current.bytes += bytes;
}

}  // namespace inkling::profile

#include "engine/base/profile.h"

#include <chrono>

namespace inkling::profile {
namespace {

using Clock = std::chrono::steady_clock;

std::map<std::string, Lap> laps;
Lap current;
Clock::time_point last;

}  // namespace

bool active = false;

void start() {
    laps.clear();
    current = {};
    last = Clock::now();
    active = true;
}

std::map<std::string, Lap> stop() {
    active = false;
    return std::move(laps);
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

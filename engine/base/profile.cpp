#include "engine/base/profile.h"

#include <utility>

#include "engine/base/clock.h"

namespace inkling::profile {
namespace {

thread_local std::map<std::string, Lap> laps;
thread_local Lap current;
thread_local double last;  // when the last lap ended

}  // namespace

constinit thread_local bool active = false;
constinit thread_local bool inside_op = false;

void start() {
    laps.clear();
    current = {};
    last = seconds_now();
    active = true;
}

std::map<std::string, Lap> stop() {
    active = false;
    return std::exchange(laps, {});
}

void end_lap(const char* op, bool backward) {
    const double now = seconds_now();
    Lap& lap = laps[backward ? std::string(op) + "'" : op];
    ++lap.calls;
    lap.seconds += now - last;
    lap.flops += current.flops;
    lap.bytes += current.bytes;
    current = {};
    last = seconds_now();
}

void add(double flops, double bytes) {
    current.flops += flops;
    current.bytes += bytes;
}

}  // namespace inkling::profile

// The table of `inkling bench --profile`: the time of each op in a training step, the machine's peak, and what the step
// takes from the system.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/base/precision.h"

namespace inkling::cli {

// Runs `step` for about `seconds` and returns the table.
std::string profile_table(const std::function<void()>& step, double seconds, Precision precision);

}  // namespace inkling::cli

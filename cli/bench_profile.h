// The table of `inkling bench --profile`: where the time of a training step goes, op by op, beside this machine's peak,
// and what the step takes from the system.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/base/precision.h"

namespace inkling::cli {

// Runs `step` for about `seconds` and returns the table.
std::string profile_table(const std::function<void()>& step, double seconds, Precision precision);

}  // namespace inkling::cli

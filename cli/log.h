// The program's messages: spdlog's default logger writes them to stderr. An error begins with "inkling:", a warning
// with "warning:"; --log-level debug adds the time to each line, and shows more measurements.
//   spdlog::warn("cannot start {} threads: {}: using 1", threads, reason);
#pragma once

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

namespace inkling::cli {

void set_up_log();                       // before the first message
void add_log_level_flag(CLI::App& app);  // --log-level

}  // namespace inkling::cli

// What SIGINT, SIGTERM and SIGHUP do: end the program, or ask a command to end.
#pragma once

#include <atomic>
#include <functional>

namespace inkling::cli {

// SIGINT, SIGTERM and SIGHUP end the program at once, with 128 and the signal's number.
void end_on_signals();

// From here on the first signal sets the flag to its number; the second ends the program. A command that a signal ends
// early returns 0 or throws Interrupted, and the program exits with signal_code().
const std::atomic<int>& catch_signals();
int signal_code();                  // 128 and the signal's number; 0: none came
void end_within(unsigned seconds);  // ends the program with signal_code()
// Runs work on long prompts or texts (engine/base/interrupt.h), which a signal ends early.
void until_signal(const std::function<void()>& work);
void forget_signal();  // sets the flag to 0
void ask_to_stop();    // as if SIGINT had come, once

}  // namespace inkling::cli

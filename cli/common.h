// What the commands share: how they are registered, how they fail, signals and threads.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "cli/program.h"
#include "engine/base/check.h"
#include "train/settings/wrong_setting.h"

namespace inkling::cli {

// Exit codes. 0: done.
enum Exit { kRunFailed = 1, kWrongUsage = 2, kBadInput = 3, kDiverged = 4, kCheckFailed = 5 };

using Usage = train::WrongSetting;  // the command line asks for something that cannot be

// A command adds its flags to `app` and answers with what to do once they are parsed; that returns the exit code.
using Action = std::function<int()>;
Action add_train(CLI::App& app);
Action add_generate(CLI::App& app);
Action add_chat(CLI::App& app);
Action add_eval(CLI::App& app);
Action add_attention(CLI::App& app);
Action add_report(CLI::App& app);
Action add_compare(CLI::App& app);
Action add_gradcheck(CLI::App& app);
Action add_info(CLI::App& app);
Action add_bench(CLI::App& app);
Action add_tokenize(CLI::App& app);
Action add_export(CLI::App& app);
Action add_data(CLI::App& app);
Action add_serve(CLI::App& app);
Action add_verify(CLI::App& app);

// --threads: sets OpenMP's number of threads; 0: default_threads(). Where the system does not grant so many it warns,
// and it is 1. Returns the number that is used, which OMP_THREAD_LIMIT bounds.
std::size_t set_threads(std::size_t threads);

// SIGINT, SIGTERM and SIGHUP end the program at once, with 128 and the signal's number.
void end_on_signals();

// From here on the first of them sets the flag to its number, and only the second ends the program.
const std::atomic<int>& catch_signals();
// From here on the program ends within so many seconds, with 128 and the number of the signal that it got.
void end_within(unsigned seconds);
// Runs work that reads long prompts or texts (engine/base/interrupt.h); a signal ends it early.
void until_signal(const std::function<void()>& work);
void forget_signal();  // the flag is 0 again
void ask_to_stop();    // as if SIGINT had come, once

// A repeatable flag whose values `parse` checks and puts into one form; its Error becomes a Usage that names the flag.
CLI::Option& add_names(CLI::App& app, const std::string& flag, std::vector<std::string>& values,
                       std::string (*parse)(const std::string&), const std::string& help);

// For messages: one line of ASCII, other bytes as \xNN.
std::string to_printable(std::string_view bytes);

// "1 thread", "2 threads".
std::string counted(std::size_t n, const char* what);

// 1234567 of "B" as "1.23 MB": three digits and a unit of 1000.
std::string quantity(double x, const char* unit);

// Writes to stdout, and fails when that fails (a full disk, a closed pipe). A terminal gets harmless() text
// (terminal.h), but for print_codes(), whose text has codes for it.
void print(const std::string& text);
void print_codes(const std::string& text);

// A line on stderr, harmless() there, too.
void say(const std::string& text);

}  // namespace inkling::cli

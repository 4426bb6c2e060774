// Shared by the commands: registration, errors, threads and output.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <new>
#include <string>

#include "cli/program.h"
#include "engine/base/check.h"
#include "train/settings/options.h"

namespace inkling::cli {

// Exit codes. 0: done.
enum Exit { kRunFailed = 1, kWrongUsage = 2, kBadInput = 3, kDiverged = 4, kCheckFailed = 5 };

using Usage = train::WrongSetting;  // a wrong command line

// A command adds its flags to `app` and returns the function that runs it after parsing, which returns the exit code.
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

// Sets OpenMP's number of threads (--threads); 0 means default_threads(). If the system does not grant as many, it
// warns and uses 1. Returns the number in use, which OMP_THREAD_LIMIT bounds.
std::size_t set_threads(std::size_t threads);

// Makes a flag of a list take one value each time that it is given.
CLI::Option& repeatable(CLI::Option& flag);

// The absolute path, without a slash at its end; its last part, as UTF-8.
std::filesystem::path without_slash(const std::filesystem::path& path);
std::string name_of_folder(const std::filesystem::path& path);

// "1 thread", "2 threads".
std::string counted(std::size_t n, const char* what);

// 1234567, "B" -> "1.23 MB": three digits, units of 1000.
std::string quantity(double x, const char* unit);

// Writes to stdout, and throws if that fails (a full disk, a closed pipe). For a terminal, control characters are
// escaped (harmless() in terminal.h), except by print_codes().
void print(const std::string& text);
void print_codes(const std::string& text);

// Out of memory: exit code 1, and one line with the requested size and the available memory. Prints the line without
// allocating, and returns the exit code. Where an exception cannot pass (static objects, libraries that may not throw),
// main.cpp ends the program with the same line and code.
int fail_out_of_memory(const std::bad_alloc& e) noexcept;

}  // namespace inkling::cli

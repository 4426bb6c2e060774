// Explains wrong command lines, each in one line with the remedy.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace inkling::cli {

// A check for the flags of `command`: refuses a flag's name in the place of a value, which was probably forgotten.
std::function<std::string(const std::string&)> refuse_flag_names(const CLI::App& command);

// Makes the flags of `command` read whole numbers as decimal numbers of at least 0. CLI11 by itself reads 010 as 8, and
// -1 as the largest number.
void read_whole_numbers(CLI::App& command);

// A check for a flag that takes one of a few values, which shells complete (flag_values.h).
CLI::Validator refuse_other_than(const std::vector<std::string>& known);

// The command of `app` with this name. Throws Usage, with the likely one, if there is no such command.
const CLI::App& find_command(const CLI::App& app, const std::string& name);

std::string full_name(const CLI::App& command);  // "inkling tokenize train"

// The message without "inkling: ". `arguments` are in the given order.
std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments);

}  // namespace inkling::cli

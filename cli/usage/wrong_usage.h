// What is wrong with a command line, in a line that says what to do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace inkling::cli {

// A check for the flags of `command`: a flag's name in the place of a value is a value that was forgotten.
std::function<std::string(const std::string&)> refuse_flag_names(const CLI::App& command);

// The flags of `command` that take whole numbers read them as decimal ones of at least 0. By itself, CLI11 takes 010
// for 8, and -1 for the largest number there is.
void read_whole_numbers(CLI::App& command);

// A check for a flag that takes one of a few values, which shells complete (flag_values.h).
CLI::Validator refuse_other_than(const std::vector<std::string>& known);

// The command that `app` has by this name. Throws Usage, with the one that was likely meant.
const CLI::App& find_command(const CLI::App& app, const std::string& name);

std::string full_name(const CLI::App& command);  // "inkling tokenize train"

// `arguments` as they were given, in their order; the message without "inkling: ".
std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments);

}  // namespace inkling::cli

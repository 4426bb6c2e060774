// What the program does when memory is short: exit code 1, and one line with what was asked for and what there is.
#pragma once

#include <new>

namespace inkling::cli {

// Prints the line, without taking memory, and returns the exit code. Where no exception can pass (static objects, code
// of libraries that may not throw), main.cpp ends the program with the same line and code.
int fail_out_of_memory(const std::bad_alloc& e) noexcept;

}  // namespace inkling::cli

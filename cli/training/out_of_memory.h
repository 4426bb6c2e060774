// Out of memory: exit code 1, and one line with the requested size and the available memory.
#pragma once

#include <new>

namespace inkling::cli {

// Prints the line without allocating, and returns the exit code. Where an exception cannot pass (static objects,
// libraries that may not throw), main.cpp ends the program with the same line and code.
int fail_out_of_memory(const std::bad_alloc& e) noexcept;

}  // namespace inkling::cli

// Available memory, and the exception for running out of it. Allocates no memory.
#pragma once

#include <cstddef>
#include <new>
#include <string>

namespace inkling {

// Bytes that this process can still allocate: the system's free memory and swap, within the limits on the process
// (ulimit -v, ulimit -d, its cgroup's memory). The system may grant more, and kill the program when it is used.
std::size_t available_memory() noexcept;

// The process's resident set size in bytes.
std::size_t memory_in_use() noexcept;

std::string bytes_text(double bytes) noexcept;  // 1234567890 as "1.23 GB"

// "out of memory: WHAT needs about 4.13 GB, and 2.93 GB are free: REMEDY", for what is refused before it takes memory.
std::string out_of_memory_text(const std::string& what, double needed, double free, const std::string& remedy);

struct OutOfMemory : std::bad_alloc {
    explicit OutOfMemory(std::size_t bytes) noexcept;
    const char* what() const noexcept override { return text_; }  // the bytes requested, in use and free

  private:
    char text_[160] = "";
};

}  // namespace inkling

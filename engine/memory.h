// How much memory there is, and the exception for when it is not enough. None is taken to tell.
#pragma once

#include <cstddef>
#include <new>
#include <string>

namespace inkling {

// Bytes that this process can still take: what the system has, swap among it, within the limits on the process
// (ulimit -v, ulimit -d, the memory of its cgroup). The system may promise more, and end the program when it is used.
std::size_t available_memory() noexcept;

// Bytes of memory that the process has taken: its resident set.
std::size_t memory_in_use() noexcept;

std::string bytes_text(double bytes);  // 1234567890 as "1.23 GB"

struct OutOfMemory : std::bad_alloc {
    explicit OutOfMemory(std::size_t bytes) noexcept;
    const char* what() const noexcept override { return text_; }  // what was asked for, and what there was

  private:
    char text_[160];
};

}  // namespace inkling

// The caching allocator under Array. A freed buffer goes to a list of its size and is handed out again, so that a
// training step, whose shapes repeat, takes nothing from the system after the first. Buffers are 64-byte aligned; those
// of 2 MiB and more are aligned to, and ask for, huge pages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace inkling {

// A block of memory that Arrays share. `version` counts the writes made in place, so that backward can tell whether a
// value that it saved is still the same.
struct Buffer {
    explicit Buffer(std::size_t bytes);
    // Memory of somebody else's, which `keeper` keeps; the pool never gets it.
    Buffer(void* memory, std::size_t bytes, std::shared_ptr<void> keeper);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void* data = nullptr;
    std::size_t capacity = 0;  // bytes, at least what was asked for
    std::atomic<std::uint32_t> version = 0;
    std::shared_ptr<void> keeper = nullptr;
};

// Memory that a thread keeps for its next loop, until it calls this again. For bodies of parallel loops: the pool has a
// lock, for which all threads would wait at once. It is not in the statistics: it is held by no array.
void* thread_memory(std::size_t bytes);

struct PoolStatistics {
    std::uint64_t system_allocations = 0;  // times that memory was taken from the system
    std::uint64_t requests = 0;            // buffers handed out
    std::size_t bytes_in_use = 0;
    std::size_t bytes_cached = 0;  // free, kept for later
    std::size_t peak_bytes = 0;    // the largest bytes_in_use so far
};

PoolStatistics pool_statistics();

// Gives all free buffers back to the system.
void release_cached_buffers();

}  // namespace inkling

// The caching allocator under Array. A freed buffer goes to a list of its size and is reused. Shapes repeat from step
// to step, so training takes no memory from the system after the first. Buffers are 64-byte aligned; those of 2 MiB and
// more are aligned to huge pages and ask for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace inkling {

// A block of memory that Arrays share. `version` counts writes in place, to tell backward if a saved value changed.
struct Buffer {
    explicit Buffer(std::size_t bytes);
    // Wraps external memory, which never enters the pool. `keeper` owns it; null: the caller does.
    Buffer(void* memory, std::size_t bytes, std::shared_ptr<void> keeper);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void* data = nullptr;
    std::size_t capacity = 0;  // bytes, at least the requested size
    std::atomic<std::uint32_t> version = 0;
    const bool pooled;
    std::shared_ptr<void> keeper = nullptr;
};

// Scratch memory of this thread, valid until its next call. For bodies of parallel loops, because all threads would
// wait for the pool's lock at once. The statistics do not count it.
void* thread_memory(std::size_t bytes);

struct PoolStatistics {
    std::uint64_t system_allocations = 0;  // requests that the system served
    std::uint64_t requests = 0;            // buffers handed out
    std::size_t bytes_in_use = 0;
    std::size_t bytes_cached = 0;  // free, kept for reuse
    std::size_t peak_bytes = 0;    // the largest bytes_in_use so far
};

PoolStatistics pool_statistics();

// Fills new uninitialized arrays with NaN (ids with -1), so that reading an element before writing it shows in the
// result. On by default in debug builds.
extern bool poison_new_buffers;

// Gives all free buffers back to the system.
void release_cached_buffers();

}  // namespace inkling

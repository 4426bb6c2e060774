#include "engine/memory/buffer_pool.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "engine/process/memory.h"

namespace inkling {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSmallest = 64;

// The size of a buffer: 64 bytes times 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... so at most a quarter is unused.
std::size_t capacity_for(std::size_t bytes) {
    const std::size_t units = std::max<std::size_t>(1, (bytes + kSmallest - 1) / kSmallest);
    const std::size_t step = std::max<std::size_t>(1, std::bit_floor(units) / 4);
    return (units + step - 1) / step * step * kSmallest;
}

// The place of a size in the list of sizes: four for each power of 2.
std::size_t place_of(std::size_t capacity) {
    const std::size_t units = capacity / kSmallest, octave = static_cast<std::size_t>(std::bit_width(units) - 1);
    return 4 * octave + ((4 * units) >> octave) % 4;
}

// A free buffer holds the address of the next free buffer of its size, so that returning a buffer takes no memory.
struct FreeBuffer {
    FreeBuffer* next;
};

struct Pool {
    std::mutex mutex;
    std::array<FreeBuffer*, 256> free{};
    PoolStatistics statistics;
};

// Never destroyed: static objects may return buffers after main has ended.
Pool& pool() {
    static Pool* const instance = new Pool;
    return *instance;
}

// Takes at least this many bytes from the pool or the system.
void* take_memory(std::size_t bytes, std::size_t& capacity) {
    if (bytes > (std::size_t{1} << 56)) throw OutOfMemory(bytes);
    capacity = capacity_for(bytes);
    const std::size_t place = place_of(capacity);
    Pool& p = pool();
    const auto hand_out = [&](bool from_system) {
        p.statistics.system_allocations += from_system;
        ++p.statistics.requests;
        p.statistics.bytes_in_use += capacity;
        p.statistics.peak_bytes = std::max(p.statistics.peak_bytes, p.statistics.bytes_in_use);
    };
    {
        const std::lock_guard lock(p.mutex);
        if (FreeBuffer* const free = p.free[place]) {
            p.free[place] = free->next;
            p.statistics.bytes_cached -= capacity;
            hand_out(false);
            return free;
        }
    }
    const bool huge = capacity >= kHugePage;
    const std::size_t alignment = huge ? kHugePage : kSmallest;
    const std::size_t whole = (capacity + alignment - 1) / alignment * alignment;
    void* data = std::aligned_alloc(alignment, whole);
    if (!data) {  // the cached buffers may be enough
        release_cached_buffers();
        data = std::aligned_alloc(alignment, whole);
    }
    if (!data) throw OutOfMemory(bytes);
    // Only whole huge pages: a page that extends past the end would waste memory.
    if (huge) madvise(data, capacity / kHugePage * kHugePage, MADV_HUGEPAGE);  // a refusal only costs speed
    const std::lock_guard lock(p.mutex);
    hand_out(true);
    return data;
}

}  // namespace

#ifdef NDEBUG
bool poison_new_buffers = false;
#else
bool poison_new_buffers = true;
#endif

Buffer::Buffer(std::size_t bytes) : pooled(true) {
    data = take_memory(bytes, capacity);
    if (poison_new_buffers) std::memset(data, 0xFF, capacity);
}

Buffer::Buffer(void* memory, std::size_t bytes, std::shared_ptr<void> owner)
    : data(memory), capacity(bytes), pooled(false), keeper(std::move(owner)) {}

Buffer::~Buffer() {
    if (!pooled) return;
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    FreeBuffer*& free = p.free[place_of(capacity)];
    free = new (data) FreeBuffer{free};
    p.statistics.bytes_in_use -= capacity;
    p.statistics.bytes_cached += capacity;
}

void* thread_memory(std::size_t bytes) {
    struct Kept {
        explicit Kept(std::size_t size) : buffer(size) {
            const std::lock_guard lock(pool().mutex);
            pool().statistics.bytes_in_use -= buffer.capacity;
        }
        ~Kept() {
            const std::lock_guard lock(pool().mutex);
            pool().statistics.bytes_in_use += buffer.capacity;
        }
        Buffer buffer;
    };
    thread_local std::unique_ptr<Kept> kept;
    if (!kept || kept->buffer.capacity < bytes) {
        kept.reset();
        kept = std::make_unique<Kept>(bytes);
    } else if (poison_new_buffers) {
        std::memset(kept->buffer.data, 0xFF, kept->buffer.capacity);
    }
    return kept->buffer.data;
}

PoolStatistics pool_statistics() {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    return p.statistics;
}

void release_cached_buffers() {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    for (FreeBuffer*& list : p.free) {
        while (list) std::free(std::exchange(list, list->next));
    }
    p.statistics.bytes_cached = 0;
    malloc_trim(0);  // free() keeps blocks below its threshold, which large blocks raise
}

}  // namespace inkling

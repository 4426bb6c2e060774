// The processes that train one model together, and the few collective operations that a step needs. Gathers and
// broadcasts are MPI's own; sums use point-to-point messages, so that no library adds floats in its own order.
//   Processes& all = start_processes();                  // launch.h
//   const std::vector<double> losses = all.gather_all(own);
// A process that runs alone has rank 0 of 1: its sums, gathers and barriers return at once.
// All processes call collective operations in the same order. One process makes each decision that depends on a clock
// or a signal, and sends it to the others.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"

namespace inkling::distributed {

class Processes {  // one, alone; mpi/ overrides it for several
  public:
    virtual ~Processes() = default;

    std::size_t rank = 0, count = 1;  // rank of this process; number of processes
    std::vector<std::string> hosts;   // host of each rank
    bool first() const { return rank == 0; }
    std::size_t on_host() const;  // processes on this host

    // Messages below 2 GB. progress() calls `done`; until then, leave the memory alone. Messages with one tag between
    // two processes arrive in order.
    using Done = std::function<void()>;
    virtual void send(std::size_t /*to*/, int /*tag*/, const void*, std::size_t /*bytes*/, Done) {}
    virtual void receive(std::size_t /*from*/, int /*tag*/, void*, std::size_t /*bytes*/, Done) {}
    virtual bool progress() { return false; }  // calls `done` of finished messages; true if any has finished
    // Waits until condition() holds. Ends the program if another process is gone.
    void wait(const std::function<bool()>& condition);

    // Reports that this process cannot continue; rank 0 tells the user, and all processes exit with this code. Returns
    // only in a process that is alone.
    virtual void fail(const std::string& /*why*/, int /*code*/) {}
    virtual void finish() {}  // all processes are done

    // Collective: equally many bytes from each process, concatenated by rank.
    std::vector<std::byte> gather_bytes(std::span<const std::byte> own);
    template <class T>
    std::vector<T> gather_all(const T& own) {
        const std::vector<std::byte> bytes = gather_bytes(std::as_bytes(std::span(&own, 1)));
        const T* const values = reinterpret_cast<const T*>(bytes.data());
        return std::vector<T>(values, values + count);
    }
    // Blocks of different `sizes` by rank, in place in `all`.
    void gather_blocks(std::span<double> all, const std::vector<std::size_t>& sizes);
    std::vector<std::string> gather_texts(const std::string& own);
    void broadcast(std::string& text);  // from rank 0
    template <class T>
    T of_first(const T& own) {
        return gather_all(own).front();
    }
    void barrier() { static_cast<void>(gather_all('.')); }

    static constexpr int kFirstFreeTag = 16;

  private:
    // Bytes [begins[i], begins[i + 1]) of `all` belong to process i. Each process fills its own before the call.
    virtual void gather(std::byte* /*all*/, const std::vector<std::size_t>& /*begins*/) {}
    virtual void send_to_all(char*, std::size_t /*bytes*/) {}  // sends rank 0's data
};

// A message between computers takes at least 50 microseconds. A process that waits many times as long sleeps, so that
// others can use the processor. Inline, because inkling-mpi.so does not link the library.
inline void Processes::wait(const std::function<bool()>& condition) {
    constexpr double kSpin = 0.0005, kYield = 0.005;
    double since = 0;
    while (!condition()) {
        if (progress()) {
            since = 0;
            continue;
        }
        const double now = seconds_now();
        if (since == 0) since = now;
        if (now - since > kYield) {
            usleep(100);
        } else if (now - since > kSpin) {
            sched_yield();
        }
    }
}

Processes& alone();  // for work that one process does for itself
// The processes of this program. launch.h starts and stores them here; until then there is only this one.
std::unique_ptr<Processes>& started_processes();
inline Processes& processes() { return *started_processes(); }

}  // namespace inkling::distributed

// Watches over the processes of a run. A thread of each process checks the others ten times a second. Every second, the
// first process sends a note to all others, and they send one to it. If a process is silent for kSilent seconds, or has
// ended on this computer, the whole run ends: MPI itself would wait for minutes.
#pragma once

#define OMPI_SKIP_MPICXX 1  // only the C interface
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/clock.h"

namespace inkling::distributed {

class MpiGuard {
  public:
    // Owns the communicator. `pids` has the process ids on this computer, and 0 for other computers. `mutex` serializes
    // the MPI calls of all threads.
    MpiGuard(MPI_Comm notes, std::size_t rank, std::vector<std::string> hosts, std::vector<pid_t> pids,
             std::recursive_mutex& mutex);

    [[noreturn]] void fail(const std::string& why, int code);   // ends all processes; the first reports why
    [[noreturn]] void fail_call(const std::string& mpi_error);  // an MPI call failed: usually, a process is gone
    void finish();                                              // every process calls it after its last message

  private:
    enum class Kind : int { beat, failed, lost, bye };
    struct Note {
        Kind kind = Kind::beat;
        int code = 0, who = 0;
        char text[500] = {};
    };
    // The peers of the first process are all others; the others have one peer, the first.
    struct Peer {
        static constexpr double kBeat = 1;  // seconds between notes
        int rank = 0;
        Note in, out;
        MPI_Request listening = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
        double silent = 0, since_beat = kBeat;
        bool gone = false;  // it has sent bye
    };

    bool first() const { return rank_ == 0; }
    std::string name_of(int who) const;
    void listen(Peer& peer);
    void send(Peer& peer, Kind kind, int code, int who, const std::string& text);
    bool hear(Peer& peer);  // true: heard_ is a new note
    void watch();
    void take(const Note& note);
    void lose(int who);
    bool speaks(int lost) const;
    bool was_stopped() const;
    [[noreturn]] void end(int code);

    MPI_Comm notes_;
    std::size_t rank_;
    std::vector<std::string> hosts_;
    std::vector<pid_t> pids_;
    std::recursive_mutex& mutex_;
    std::vector<Peer> peers_;
    Note heard_, failure_;
    double waiting_ = 0;
    std::atomic<double> stopped_ = 0, ticked_ = seconds_now();  // seconds; written by watch()
    std::atomic<bool> finished_ = false, failed_ = false;
    std::thread thread_;
};

}  // namespace inkling::distributed

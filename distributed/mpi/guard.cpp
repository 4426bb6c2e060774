#include "distributed/mpi/guard.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace inkling::distributed {
namespace {

constexpr double kTick = 0.1;  // seconds
// After a network outage of 3 seconds, TCP sends again up to 3 seconds later: it doubles its wait each time.
constexpr double kSilent = 8;
constexpr double kGrace = 0.3;  // time for the first process to fail for the same reason and report it itself
constexpr const char* kGoOn = ": continue from the last checkpoint with --resume auto";

void say(const std::string& text) {
    const std::string line = "inkling: " + text + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

// Waits until mpirun has read what this process has written there, at most for a second.
void wait_for_reader(int file) {
    for (int unread = 0, tries = 0; tries < 1000; ++tries) {
        if (ioctl(file, FIONREAD, &unread) != 0 || unread == 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

MpiGuard::MpiGuard(MPI_Comm notes, std::size_t rank, std::vector<std::string> hosts, std::vector<pid_t> pids,
                   std::recursive_mutex& mutex)
    : notes_(notes), rank_(rank), hosts_(std::move(hosts)), pids_(std::move(pids)), mutex_(mutex) {
    for (std::size_t i = 0; i < hosts_.size(); ++i)
        if ((i == 0) != first()) peers_.emplace_back().rank = static_cast<int>(i);
    for (Peer& peer : peers_) listen(peer);
    thread_ = std::thread([this] { watch(); });
}

void MpiGuard::fail(const std::string& why, int code) {
    if (first() && !failed_.exchange(true)) {
        say(why);
        end(code);
    }
    failed_ = true;
    if (!first()) send(peers_.front(), Kind::failed, code, static_cast<int>(rank_), why);
    std::this_thread::sleep_for(std::chrono::seconds(3));  // the first process ends all before that
    _exit(code);
}

void MpiGuard::fail_call(const std::string& mpi_error) {
    if (!failed_.exchange(true)) {
        if (first() && !was_stopped()) say("another process cannot be reached: " + mpi_error + kGoOn);
        if (first()) end(1);
    }
    std::this_thread::sleep_for(std::chrono::seconds(3));
    _exit(1);
}

void MpiGuard::finish() {
    finished_ = true;
    thread_.join();
    for (Peer& peer : peers_) send(peer, Kind::bye, 0, 0, "");
    for (Peer& peer : peers_) {
        while (!peer.gone) hear(peer);
        MPI_Wait(&peer.sending, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&notes_);
}

std::string MpiGuard::name_of(int who) const {
    return "process " + std::to_string(who) + " on " + hosts_[static_cast<std::size_t>(who)];
}

void MpiGuard::listen(Peer& peer) {
    MPI_Irecv(&peer.in, sizeof peer.in, MPI_BYTE, peer.rank, 1, notes_, &peer.listening);
}

// Sends a note. Gives up if the previous one is still on its way: beats at once, other notes after a second.
void MpiGuard::send(Peer& peer, Kind kind, int code, int who, const std::string& text) {
    for (int tries = 0; tries < 100; ++tries) {
        {
            const std::lock_guard lock(mutex_);
            int done = 1;
            MPI_Test(&peer.sending, &done, MPI_STATUS_IGNORE);
            if (done) {
                peer.out = Note{kind, code, who, {}};
                std::strncpy(peer.out.text, text.c_str(), sizeof peer.out.text - 1);
                MPI_Isend(&peer.out, sizeof peer.out, MPI_BYTE, peer.rank, 1, notes_, &peer.sending);
                return;
            }
        }
        if (kind == Kind::beat) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

bool MpiGuard::hear(Peer& peer) {
    const std::lock_guard lock(mutex_);
    int done = 0;
    MPI_Test(&peer.listening, &done, MPI_STATUS_IGNORE);
    if (!done) return false;
    heard_ = peer.in;
    peer.gone = heard_.kind == Kind::bye;
    if (!peer.gone) listen(peer);
    return true;
}

void MpiGuard::watch() {
    while (!finished_) {
        std::this_thread::sleep_for(std::chrono::duration<double>(kTick));
        const double since = seconds_now() - ticked_;
        // a process that was stopped for a while could not listen, so its peers' silence counts less
        const double passed = std::min(2 * kTick, since);
        stopped_ = since > kSilent ? kSilent : std::max(0.0, stopped_ - passed);
        ticked_ = seconds_now();
        for (Peer& peer : peers_) {
            peer.silent += passed;
            peer.since_beat += passed;
            while (!finished_ && !peer.gone && hear(peer)) {
                peer.silent = 0;
                take(heard_);
            }
            if (peer.since_beat >= Peer::kBeat && !finished_) {
                send(peer, Kind::beat, 0, 0, "");
                peer.since_beat = 0;
            }
            if (peer.silent > kSilent && !peer.gone && !finished_) lose(peer.rank);
        }
        for (std::size_t i = 0; i < pids_.size() && !finished_; ++i) {
            if (pids_[i] != 0 && kill(pids_[i], 0) != 0 && errno == ESRCH) lose(static_cast<int>(i));
        }
        if (first() && waiting_ > 0 && (waiting_ -= passed) <= 0 && !failed_.exchange(true)) {
            say(name_of(failure_.who) + ": " + failure_.text);
            end(failure_.code);
        }
    }
}

void MpiGuard::take(const Note& note) {
    if (note.kind == Kind::lost) lose(note.who);
    if (note.kind != Kind::failed || waiting_ > 0) return;
    failure_ = note;
    waiting_ = kGrace;
}

void MpiGuard::lose(int who) {
    if (failed_.exchange(true)) return;  // already being reported
    const bool to_first = !first() && who != 0;
    if (to_first) {
        send(peers_.front(), Kind::lost, 1, who, "");
        std::this_thread::sleep_for(std::chrono::seconds(1));
        _exit(1);
    }
    if (speaks(who)) say(name_of(who) + " has ended or cannot be reached" + kGoOn);
    end(1);
}

// Whether this process reports the loss: it has the lowest rank on this computer apart from the lost process, and was
// not itself stopped, in which case the others report it as lost.
bool MpiGuard::speaks(int lost) const {
    for (std::size_t i = 0; i < rank_; ++i)
        if (static_cast<int>(i) != lost && pids_[i] != 0 && kill(pids_[i], 0) == 0) return false;
    return !was_stopped();
}

// Whether this process was just stopped for so long that the others have given up on it.
bool MpiGuard::was_stopped() const { return stopped_ > 0 || seconds_now() - ticked_ > kSilent; }

// Ends all processes with this code. After an _exit(), MPICH's mpiexec would kill the others and take their code; and
// it loses what it has not read when they end.
void MpiGuard::end(int code) {
    for (const int file : {STDOUT_FILENO, STDERR_FILENO}) wait_for_reader(file);
    const std::lock_guard lock(mutex_);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

}  // namespace inkling::distributed

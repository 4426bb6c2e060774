// The processes that mpirun has started: the one file that speaks MPI. It is a module of its own, which the program
// loads when mpirun starts it, so that alone it neither needs nor loads MPI.
//
// A thread looks after the others, ten times a second: all tell the first process every second that they are there, and
// it tells them. Who is silent for kSilent seconds, or has ended on this computer, ends them all: MPI itself would wait
// for the lost one for minutes. MPI calls of the two threads take turns.
#define OMPI_SKIP_MPICXX 1  // the C interface alone
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "distributed/processes.h"
#include "engine/base/clock.h"

namespace inkling::distributed {
namespace {

constexpr double kTick = 0.1, kBeat = 1;  // seconds
// A network that is away for 3 seconds is used again up to 3 more seconds later: TCP waits twice as long each time.
constexpr double kSilent = 8;
constexpr double kGrace = 0.3;  // for the first process to fail as the others did, and say so itself

enum class Kind : int { beat, failed, lost, bye };

struct Note {
    Kind kind = Kind::beat;
    int code = 0, who = 0;
    char text[500] = {};
};

class Mpi final : public Processes {
  public:
    Mpi() {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "MPI_Comm_dup");
        check(MPI_Comm_dup(MPI_COMM_WORLD, &notes_), "MPI_Comm_dup");
        for (const MPI_Comm comm : {data_, notes_}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int own = 0, all = 1, here = 1;
        MPI_Comm_rank(data_, &own);
        MPI_Comm_size(data_, &all);
        rank = static_cast<std::size_t>(own);
        count = static_cast<std::size_t>(all);
        MPI_Comm host;
        check(MPI_Comm_split_type(data_, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
        MPI_Comm_size(host, &here);
        MPI_Comm_free(&host);
        on_host = static_cast<std::size_t>(here);
        struct Id {
            char host[256];
            long pid;
        } id{};
        int length = 0;
        char name[MPI_MAX_PROCESSOR_NAME] = {};
        MPI_Get_processor_name(name, &length);
        std::snprintf(id.host, sizeof id.host, "%s", name);
        id.pid = getpid();
        std::vector<Id> ids(count);
        check(MPI_Allgather(&id, sizeof id, MPI_BYTE, ids.data(), sizeof id, MPI_BYTE, data_), "MPI_Allgather");
        for (const Id& i : ids) {
            hosts.emplace_back(i.host);
            const bool near = hosts.back() == id.host && kill(static_cast<pid_t>(i.pid), 0) == 0;
            pids_.push_back(near ? static_cast<pid_t>(i.pid) : 0);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if ((i == 0) != first()) peers_.emplace_back().rank = static_cast<int>(i);
        }
        for (Peer& peer : peers_) listen(peer);
        guard_ = std::thread([this] { watch(); });
    }

    ~Mpi() override { finish(); }

    void send(std::size_t to, int tag, const void* data, std::size_t bytes, Done done) override {
        const std::lock_guard lock(mutex_);
        MPI_Request request;
        check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(to), tag, data_, &request),
              "MPI_Isend");
        keep(request, std::move(done));
    }

    void receive(std::size_t from, int tag, void* data, std::size_t bytes, Done done) override {
        const std::lock_guard lock(mutex_);
        MPI_Request request;
        check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(from), tag, data_, &request),
              "MPI_Irecv");
        keep(request, std::move(done));
    }

    bool progress() override {
        std::vector<Done> finished;
        {
            const std::lock_guard lock(mutex_);
            if (open_.empty()) return false;
            which_.resize(open_.size());
            int n = 0;
            check(MPI_Testsome(static_cast<int>(open_.size()), open_.data(), &n, which_.data(), MPI_STATUSES_IGNORE),
                  "MPI_Testsome");
            if (n <= 0) return false;
            for (int i = 0; i < n; ++i)
                finished.push_back(std::move(done_[static_cast<std::size_t>(which_[static_cast<std::size_t>(i)])]));
            std::size_t kept = 0;
            for (std::size_t i = 0; i < open_.size(); ++i) {
                if (open_[i] == MPI_REQUEST_NULL) continue;
                open_[kept] = open_[i];
                if (kept != i) done_[kept] = std::move(done_[i]);
                ++kept;
            }
            open_.resize(kept);
            done_.resize(kept);
        }
        for (const Done& done : finished)
            if (done) done();
        return true;
    }

    void fail(const std::string& why, int code) override {
        if (first() && !failed_.exchange(true)) {
            say(why);
            end(code);
        }
        failed_ = true;
        if (!first()) tell(peers_.front(), Kind::failed, code, static_cast<int>(rank), why);
        std::this_thread::sleep_for(std::chrono::seconds(3));  // until the first process ends all
        _exit(code);
    }

    void finish() override {
        if (finished_) return;
        collective("MPI_Ibarrier", [&](MPI_Request* r) { return MPI_Ibarrier(data_, r); });  // it may take minutes
        finished_ = true;
        guard_.join();
        for (Peer& peer : peers_) tell(peer, Kind::bye, 0, 0, "");
        for (Peer& peer : peers_) {
            while (!peer.gone) hear(peer);
            MPI_Wait(&peer.sending, MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&data_);
        MPI_Comm_free(&notes_);
        MPI_Finalize();
    }

  private:
    // Of the first process: every other; of the others: the first.
    struct Peer {
        int rank = 0;
        Note in, out;
        MPI_Request listening = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
        double silent = 0, since_beat = kBeat;
        bool gone = false;  // it has come to the end
    };

    void gather(std::byte* all, const std::vector<std::size_t>& begins) override {
        std::vector<int> sizes, places(begins.begin(), begins.end());
        for (std::size_t i = 0; i < count; ++i) sizes.push_back(places[i + 1] - places[i]);
        collective("MPI_Iallgatherv", [&](MPI_Request* r) {
            return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, sizes.data(), places.data(), MPI_BYTE,
                                   data_, r);
        });
    }

    void send_to_all(char* data, std::size_t bytes) override {
        collective("MPI_Ibcast",
                   [&](MPI_Request* r) { return MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, data_, r); });
    }

    template <class Start>
    void collective(const char* call, const Start& start) {
        bool done = false;
        {
            const std::lock_guard lock(mutex_);
            MPI_Request request;
            check(start(&request), call);
            keep(request, [&] { done = true; });
        }
        wait([&] { return done; });
    }

    void keep(MPI_Request request, Done done) {  // until progress() finds that it is done
        open_.push_back(request);
        done_.push_back(std::move(done));
    }

    void check(int error, const char* call) {
        if (error == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING] = {};
        int length = 0;
        MPI_Error_string(error, text, &length);
        if (!guard_.joinable()) {
            std::fprintf(stderr, "inkling: %s: %s\n", call, text);
            _exit(1);
        }
        if (!failed_.exchange(true)) {  // the other end is gone, as a rule
            if (first() && !was_stopped()) say(std::string("another process cannot be reached: ") + text + kGoOn);
            if (first()) end(1);
        }
        std::this_thread::sleep_for(std::chrono::seconds(3));
        _exit(1);
    }

    static void say(const std::string& text) {
        const std::string line = "inkling: " + text + "\n";
        [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    }

    std::string name_of(int who) const {
        return "process " + std::to_string(who) + " on " + hosts[static_cast<std::size_t>(who)];
    }

    void listen(Peer& peer) { MPI_Irecv(&peer.in, sizeof peer.in, MPI_BYTE, peer.rank, 1, notes_, &peer.listening); }

    // Sends, unless the message before is still on its way after a second.
    void tell(Peer& peer, Kind kind, int code, int who, const std::string& text) {
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

    bool hear(Peer& peer) {  // true: peer.in is a new note
        const std::lock_guard lock(mutex_);
        int done = 0;
        MPI_Test(&peer.listening, &done, MPI_STATUS_IGNORE);
        if (!done) return false;
        heard_ = peer.in;
        peer.gone = heard_.kind == Kind::bye;
        if (!peer.gone) listen(peer);
        return true;
    }

    void watch() {
        while (!finished_) {
            std::this_thread::sleep_for(std::chrono::duration<double>(kTick));
            const double since = seconds_now() - ticked_;
            // a process that was stopped for a while has not listened
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
                if (peer.since_beat >= kBeat && !finished_) {
                    tell(peer, Kind::beat, 0, 0, "");
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

    void take(const Note& note) {
        if (note.kind == Kind::lost) lose(note.who);
        if (note.kind != Kind::failed || waiting_ > 0) return;
        failure_ = note;
        waiting_ = kGrace;
    }

    void lose(int who) {
        if (failed_.exchange(true)) return;  // it is being said
        const bool to_first = !first() && who != 0;
        if (to_first) {
            tell(peers_.front(), Kind::lost, 1, who, "");
            std::this_thread::sleep_for(std::chrono::seconds(1));
            _exit(1);
        }
        if (speaks(who)) say(name_of(who) + " has ended or cannot be reached" + kGoOn);
        end(1);
    }

    // The lowest on this computer but for the lost one, unless the others have lost this process and say so.
    bool speaks(int lost) const {
        for (std::size_t i = 0; i < rank; ++i)
            if (static_cast<int>(i) != lost && pids_[i] != 0 && kill(pids_[i], 0) == 0) return false;
        return !was_stopped();
    }

    // For so long, a moment ago, that the others have stopped waiting.
    bool was_stopped() const { return stopped_ > 0 || seconds_now() - ticked_ > kSilent; }

    // Ends all processes with this code. After an _exit(), MPICH's mpiexec would kill the others and take their code.
    [[noreturn]] void end(int code) {
        const std::lock_guard lock(mutex_);
        MPI_Abort(MPI_COMM_WORLD, code);
        _exit(code);
    }

    static constexpr const char* kGoOn = ": the last checkpoint is intact: continue from it with --resume auto";

    MPI_Comm data_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL;
    std::recursive_mutex mutex_;
    std::vector<MPI_Request> open_;
    std::vector<Done> done_;
    std::vector<int> which_;
    std::vector<pid_t> pids_;  // of the processes on this computer; 0: elsewhere
    std::vector<Peer> peers_;
    Note heard_, failure_;
    double waiting_ = 0;
    std::atomic<double> stopped_ = 0, ticked_ = seconds_now();  // seconds; of watch()
    std::atomic<bool> finished_ = false, failed_ = false;
    std::thread guard_;
};

}  // namespace
}  // namespace inkling::distributed

// Null, with the reason, when MPI does not start, or knows of this process alone.
extern "C" inkling::distributed::Processes* inkling_start_mpi(std::string* error) {
    int provided = 0, count = 1;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
        *error = "MPI does not start";
        return nullptr;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count > 1 && provided >= MPI_THREAD_SERIALIZED) return new inkling::distributed::Mpi();
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(version, &length);
    *error = std::string(version, std::strcspn(version, ",\n"));
    MPI_Finalize();
    return nullptr;
}

// Messages between the processes that mpirun has started. Only this folder uses MPI. It is a separate module that the
// program loads when mpirun starts it, so that without mpirun the program neither needs nor loads MPI.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "distributed/mpi/guard.h"
#include "distributed/processes.h"

namespace inkling::distributed {
namespace {

class Mpi final : public Processes {
  public:
    Mpi() {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "MPI_Comm_dup");
        MPI_Comm notes;
        check(MPI_Comm_dup(MPI_COMM_WORLD, &notes), "MPI_Comm_dup");
        for (const MPI_Comm comm : {data_, notes}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int own = 0, all = 1;
        MPI_Comm_rank(data_, &own);
        MPI_Comm_size(data_, &all);
        rank = static_cast<std::size_t>(own);
        count = static_cast<std::size_t>(all);
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
        std::vector<pid_t> pids;
        for (const Id& i : ids) {
            hosts.emplace_back(i.host);
            const bool near = hosts.back() == id.host && kill(static_cast<pid_t>(i.pid), 0) == 0;
            pids.push_back(near ? static_cast<pid_t>(i.pid) : 0);
        }
        guard_ = std::make_unique<MpiGuard>(notes, rank, hosts, pids, mutex_);
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

    void fail(const std::string& why, int code) override { guard_->fail(why, code); }

    void finish() override {
        if (!guard_) return;
        collective("MPI_Ibarrier", [&](MPI_Request* r) { return MPI_Ibarrier(data_, r); });  // may take minutes
        guard_->finish();
        guard_.reset();
        MPI_Comm_free(&data_);
        MPI_Finalize();
    }

  private:
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

    void keep(MPI_Request request, Done done) {  // until progress() finds it done
        open_.push_back(request);
        done_.push_back(std::move(done));
    }

    void check(int error, const char* call) {
        if (error == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING] = {};
        int length = 0;
        MPI_Error_string(error, text, &length);
        if (guard_) guard_->fail_call(text);
        std::fprintf(stderr, "inkling: %s: %s\n", call, text);
        _exit(1);
    }

    MPI_Comm data_ = MPI_COMM_NULL;
    std::recursive_mutex mutex_;
    std::vector<MPI_Request> open_;
    std::vector<Done> done_;
    std::vector<int> which_;
    std::unique_ptr<MpiGuard> guard_;  // null: this process has not met the others yet, or has finished
};

}  // namespace
}  // namespace inkling::distributed

// Null, with the reason in *error, if MPI does not start, or knows only this process.
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

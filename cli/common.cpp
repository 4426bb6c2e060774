#include "cli/common.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

namespace inkling::cli {
namespace {

std::atomic<int> received_signal = 0;
std::atomic<bool> flag_is_polled = false;  // else a signal ends the program at once
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may not lock");

extern "C" void on_signal(int number) {
    if (!flag_is_polled || received_signal.exchange(number) != 0) _exit(128 + number);
}

extern "C" void* wait_for(void* mutex) {
    pthread_mutex_lock(static_cast<pthread_mutex_t*>(mutex));
    pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex));
    return nullptr;
}

// Starts n threads that are there at the same time, and ends them. Returns 0, or the errno of one that could not start,
// for which OpenMP would end the program.
int try_threads(std::size_t n) {
    std::vector<pthread_t> started(n);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int error = 0;
    std::size_t count = 0;
    while (count < n && error == 0) {
        error = pthread_create(&started[count], nullptr, wait_for, &mutex);
        count += error == 0;
    }
    pthread_mutex_unlock(&mutex);
    for (std::size_t i = 0; i < count; ++i) pthread_join(started[i], nullptr);
    return error;
}

// Hyper-threads of one core share its multipliers: count cores. Where the system does not tell, count processors.
std::size_t physical_cores() {
    // With OMP_PROC_BIND this thread is bound to one processor already: OpenMP knows how many there were.
    if (omp_get_proc_bind() != omp_proc_bind_false) return static_cast<std::size_t>(omp_get_num_procs());
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
        std::string siblings;
        if (!std::getline(file, siblings)) siblings = std::to_string(cpu);
        cores.insert(siblings);
    }
    return std::max<std::size_t>(1, cores.size());
}

}  // namespace

std::size_t set_threads(std::size_t threads) {
    constexpr std::size_t kMaxThreads = 1024;
    if (threads > kMaxThreads) throw Usage(fmt::format("--threads must be at most {}, got {}", kMaxThreads, threads));
    if (threads == 0) threads = physical_cores();
    if (const int error = try_threads(threads - 1)) {
        std::fprintf(stderr, "warning: cannot start %zu threads: %s: using 1\n", threads, std::strerror(error));
        threads = 1;
    }
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(threads));
    return threads;
}

void end_on_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction hang_up {};
    sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup has it ignored
}

const std::atomic<int>& catch_signals() {
    flag_is_polled = true;
    return received_signal;
}

void forget_signal() { received_signal = 0; }

std::string to_printable(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        const bool plain = c >= ' ' && c < 0x7F;
        text += plain ? std::string(1, c) : fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
    return text;
}

std::string counted(std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

void print(const std::string& text) {
    bool written = std::fflush(stdout) == 0;
    for (std::size_t i = 0; written && i < text.size();) {
        const ssize_t n = write(STDOUT_FILENO, text.data() + i, text.size() - i);
        if (n >= 0) i += static_cast<std::size_t>(n);
        written =
            n >= 0 || errno == EINTR;  // a signal while a terminal or a pipe is full: the rest is due all the same
    }
    check(written, "stdout: cannot be written: {}", std::strerror(errno));
}

}  // namespace inkling::cli

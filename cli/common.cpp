#include "cli/common.h"

#include <omp.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/log.h"
#include "cli/terminal/terminal.h"
#include "engine/base/cpu.h"
#include "engine/base/interrupt.h"
#include "engine/process/memory.h"
#include "engine/process/threads.h"
#include "formats/files/file.h"
#include "generate/utf8_stream.h"
#include "web/http/http.h"

namespace inkling::cli {

namespace {

std::atomic<int> received_signal = 0;
std::atomic<bool> flag_is_polled = false;  // if false, a signal ends the program at once
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may not lock");

extern "C" void on_signal(int number) {
    if (!flag_is_polled || received_signal.exchange(number) != 0) _exit(128 + number);
}

}  // namespace

std::size_t set_threads(std::size_t threads) {
    constexpr std::size_t kMaxThreads = 1024;
    check<Usage>(threads <= kMaxThreads, "--threads must be at most {}, got {}", kMaxThreads, threads);
    if (threads == 0) threads = default_threads();
    if (const int error = inkling::set_threads(threads))
        spdlog::warn("cannot start {} threads: {}: using 1", threads, std::strerror(error));
    const auto used = static_cast<std::size_t>(omp_get_max_threads());
    spdlog::debug("{} on {}", counted(used, "thread"), cpu_name());
    return used;
}

void end_on_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction hang_up {};
    sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup ignores it
}

const std::atomic<int>& catch_signals() {
    flag_is_polled = true;
    return received_signal;
}

int signal_code() { return received_signal == 0 ? 0 : 128 + received_signal; }

void end_within(unsigned seconds) {
    std::signal(SIGALRM, [](int) { _exit(signal_code()); });
    alarm(seconds);
}

void until_signal(const std::function<void()>& work) {
    const Interruptible scope([&signal = catch_signals()] { return signal != 0; });
    try {
        work();
    } catch (const Interrupted&) {  // the caller checks the signal
    }
}

void forget_signal() { received_signal = 0; }

void ask_to_stop() {
    int none = 0;
    received_signal.compare_exchange_strong(none, SIGINT);
}

CLI::Option& repeatable(CLI::Option& flag) { return *flag.take_all()->expected(1)->allow_extra_args(false); }

void read_access(const std::string& flag, const std::vector<std::string>& allow_hosts, const std::string& key_file,
                 web::HttpOptions& http) {
    for (const std::string& host : allow_hosts)
        http.allow_hosts.push_back(parse_flag("--allow-host", host, web::parse_host));
    if (!key_file.empty())
        http.keys = web::parse_keys(formats::read_file(key_file, formats::FileKind::prompt), key_file);
    check<Usage>(web::is_loopback(http.host) || !http.keys.empty() || http.insecure,
                 "{} {}: anybody who reaches this machine could use it: --api-key-file FILE asks for a key, --insecure "
                 "serves without",
                 flag, http.host);
}

std::filesystem::path without_slash(const std::filesystem::path& path) {
    return (std::filesystem::absolute(path).lexically_normal() / "").parent_path();
}

std::string name_of_folder(const std::filesystem::path& path) {
    return generate::to_valid_utf8(without_slash(path).filename().string());
}

std::string counted(std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string quantity(double x, const char* unit) {
    constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    while (x >= 999.5 && prefix + 1 < std::size(kPrefixes)) x /= 1000, ++prefix;
    const int digits = prefix == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", x, digits, kPrefixes[prefix], unit);
}

void print(const std::string& text) { print_codes(isatty(STDOUT_FILENO) ? harmless(text) : text); }

void print_codes(const std::string& text) {
    bool written = std::fflush(stdout) == 0;
    for (std::size_t i = 0; written && i < text.size();) {
        const ssize_t n = write(STDOUT_FILENO, text.data() + i, text.size() - i);
        if (n >= 0) i += static_cast<std::size_t>(n);
        written = n >= 0 || errno == EINTR;  // after a signal, write the rest
    }
    check(written, "stdout: cannot be written: {}", std::strerror(errno));
}

int fail_out_of_memory(const std::bad_alloc& e) noexcept {
    static std::atomic_flag told;  // ending the program may run out of memory again
    if (told.test_and_set()) return kRunFailed;
    char line[256];
    const int size = std::snprintf(line, sizeof line, "inkling: %s: choose a smaller model, batch or context\n",
                                   dynamic_cast<const OutOfMemory*>(&e) ? e.what() : "out of memory");
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, static_cast<std::size_t>(size));
    return kRunFailed;
}

}  // namespace inkling::cli

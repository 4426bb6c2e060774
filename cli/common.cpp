#include "cli/common.h"

#include <omp.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/log.h"
#include "cli/terminal/terminal.h"
#include "engine/base/cpu.h"
#include "engine/process/memory.h"
#include "engine/process/threads.h"
#include "generate/utf8_stream.h"

namespace inkling::cli {

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

CLI::Option& repeatable(CLI::Option& flag) { return *flag.take_all()->expected(1)->allow_extra_args(false); }

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

// Lets tests simulate a failing disk or a power cut: every disk-changing call of this library asks here first.
#pragma once

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "engine/base/check.h"

namespace inkling::formats {

// Helpers for direct system calls.

inline std::string reason(int error) { return std::generic_category().message(error); }

// Retries a call interrupted by a signal. Returns its result, or -1 with errno set.
template <class Call>
auto retry(Call call) {
    auto result = call();
    while (result == -1 && errno == EINTR) result = call();
    return result;
}

// Throws Error, "cannot write PATH: REASON", unless the errno is 0.
inline void require_done(const char* action, const std::filesystem::path& path, int error) {
    if (error != 0) check(false, "cannot {} {}: {}", action, path.string(), reason(error));
}

// 0, or the errno of a system call that returned -1.
inline int error_of(long result) { return result == -1 ? errno : 0; }

// Given the call (open, write, fsync, close, rename, exchange, symlink, mkdir, remove, fsync directory) and its path:
// the errno to fail with, or 0. Empty except in tests.
inline std::function<int(std::string_view call, const std::filesystem::path& path)> before_file_call;

inline int refused_file_call(std::string_view call, const std::filesystem::path& path) {
    return before_file_call ? before_file_call(call, path) : 0;
}

// 0, or the errno that a call should fail with.
template <class Call>
int error_of_change(std::string_view name, const std::filesystem::path& path, Call call) {
    if (const int refused = refused_file_call(name, path)) return refused;
    return error_of(call());
}

}  // namespace inkling::formats

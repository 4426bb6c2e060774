// Helpers for direct system calls.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace inkling::formats {

inline std::string reason(int error) { return std::generic_category().message(error); }

// Retries a call interrupted by a signal. Returns its result, or -1 with errno set.
template <class Call>
auto retry(Call call) {
    auto result = call();
    while (result == -1 && errno == EINTR) result = call();
    return result;
}

// 0, or the errno of a system call that returned -1.
inline int error_of(long result) { return result == -1 ? errno : 0; }

}  // namespace inkling::formats

// Lets tests simulate a failing disk or a power cut: every disk-changing call of this library asks here first.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "formats/files/system_calls.h"

namespace inkling::formats {

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

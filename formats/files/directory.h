// Listing and changing folders. Each change is a system call that a test can refuse (file_calls.h). Errors are Error
// with the path and the reason, or std::bad_alloc: without memory the iterators of std::filesystem, and its remove_all,
// would end the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace inkling::formats {

// The names in a directory, sorted, without . and ..
std::vector<std::string> names_in(const std::filesystem::path& directory);

void make_directory(const std::filesystem::path& path);
void make_link(const std::string& target, const std::filesystem::path& path);  // a symbolic one
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);

// Two names are swapped in one step; where the file system cannot, in three, with a moment without `b`: a crash then
// leaves it as between_exchange(a).
void exchange_paths(const std::filesystem::path& a, const std::filesystem::path& b);
std::filesystem::path between_exchange(const std::filesystem::path& a);

// The file, link or directory, and all that is in it. Nothing there is no error.
void remove_tree(const std::filesystem::path& path);
bool try_remove_tree(const std::filesystem::path& path) noexcept;  // false: something is still there

}  // namespace inkling::formats

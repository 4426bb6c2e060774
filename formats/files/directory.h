// Lists and changes folders. A test can make each system call fail (file_calls.h). Throws Error with the path and the
// reason, or std::bad_alloc (std::filesystem's iterators and remove_all would end the program without memory).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace inkling::formats {

// The names in a directory, sorted, without . and ..
std::vector<std::string> names_in(const std::filesystem::path& directory);

void make_directory(const std::filesystem::path& path);
void make_link(const std::string& target, const std::filesystem::path& path);  // a symbolic link
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);

// Swaps two names atomically. Where the file system cannot, it takes three steps, with a moment without `b`; a crash
// then leaves it as between_exchange(a).
void exchange_paths(const std::filesystem::path& a, const std::filesystem::path& b);
std::filesystem::path between_exchange(const std::filesystem::path& a);

// Removes a file, a link or a whole directory. A missing one is not an error.
void remove_tree(const std::filesystem::path& path);
bool try_remove_tree(const std::filesystem::path& path) noexcept;  // false: something is still there

}  // namespace inkling::formats

// Finds files that may be text, for read_corpus: below a folder, or by shell patterns, where * matches any characters,
// ? one, [a-z] one in this range.
//   find_files("books", {"*.log"}).files
//   matching_paths("books/*.txt")                      // existing paths, sorted
//   is_excluded("src/third/a.js", {"*.min.js", "third"})
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

// The regular files below a folder, in the order of their paths, except hidden and excluded ones, those of tools, and
// runs of Inkling. Throws BadInput for a folder that cannot be listed.
struct FoundFiles {
    struct Skipped {
        std::string reason, path;
        std::size_t files;
    };
    std::vector<std::filesystem::path> files;
    std::vector<Skipped> skipped;
};
FoundFiles find_files(const std::string& folder, const std::vector<std::string>& exclude);

bool is_pattern(std::string_view path);

// Throws BadInput for a folder that cannot be listed.
std::vector<std::string> matching_paths(const std::string& pattern);

// A pattern with a slash is matched against the path, where * also matches slashes; one without, against each name in
// it.
bool is_excluded(std::string_view path, const std::vector<std::string>& patterns);

}  // namespace inkling::data

// Shell patterns for files: * matches any characters, ? one, [a-z] one of these.
//   matching_paths("books/*.txt")                      // existing paths, sorted
//   is_excluded("src/third/a.js", {"*.min.js", "third"})
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

bool is_pattern(std::string_view path);

// Throws BadInput for a folder that cannot be listed.
std::vector<std::string> matching_paths(const std::string& pattern);

// A pattern with a slash is matched against the path, where * also matches slashes; one without, against each name in
// it.
bool is_excluded(std::string_view path, const std::vector<std::string>& patterns);

}  // namespace inkling::data

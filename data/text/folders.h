// Walks a folder for files that may be text, for read_corpus.
//   walk("books", [&](const fs::path& path, const std::string& name) { return is_own_folder(path); });
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

// Whether the first bytes hold a NUL, so that large binary files need not be read whole. False if the file cannot be
// opened.
bool looks_binary(const std::filesystem::path& file);

// Whether the name tells that it holds no user's text.
bool is_tool_folder(const std::string& name);

bool is_run(const std::filesystem::path& folder);  // a folder of an Inkling run

bool is_own_folder(const std::filesystem::path& path);  // not a link to one

// Calls enters(path, name) for every entry of a folder, and recurses where it returns true.
void walk(const std::filesystem::path& folder,
          const std::function<bool(const std::filesystem::path& path, const std::string& name)>& enters);

// Stops counting at a large number.
std::size_t count_files(const std::filesystem::path& folder);

// Shell patterns for files: * matches any characters, ? one, [a-z] one of these.
//   matching_paths("books/*.txt")                      // existing paths, sorted
//   is_excluded("src/third/a.js", {"*.min.js", "third"})

bool is_pattern(std::string_view path);

// Throws BadInput for a folder that cannot be listed.
std::vector<std::string> matching_paths(const std::string& pattern);

// A pattern with a slash is matched against the path, where * also matches slashes; one without, against each name in
// it.
bool is_excluded(std::string_view path, const std::vector<std::string>& patterns);

}  // namespace inkling::data

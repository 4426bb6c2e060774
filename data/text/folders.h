// Walks a folder for files that may be text, for read_corpus.
//   walk("books", [&](const fs::path& path, const std::string& name) { return is_own_folder(path); });
#pragma once

#include <filesystem>
#include <functional>
#include <string>

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

}  // namespace inkling::data

// The files of a folder that may be text, for read_corpus.
//   walk("books", [&](const fs::path& path, const std::string& name) { return is_own_folder(path); });
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace inkling::data {

// Whether a NUL is among the first bytes, so that large binary files need not be read whole. False for a file that
// cannot be opened.
bool looks_binary(const std::filesystem::path& file);

// By the name: it holds no text of the user's.
bool is_tool_folder(const std::string& name);

bool is_run(const std::filesystem::path& folder);  // of Inkling

bool is_own_folder(const std::filesystem::path& path);  // not a link to one

// Calls enters(path, name) for all that is in a folder, and so on below those for which it is true.
void walk(const std::filesystem::path& folder,
          const std::function<bool(const std::filesystem::path& path, const std::string& name)>& enters);

// Up to a number that is enough to tell that they are many.
std::size_t count_files(const std::filesystem::path& folder);

}  // namespace inkling::data

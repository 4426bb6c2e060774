#include "data/text/folders.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <functional>
#include <new>

#include "engine/base/check.h"
#include "formats/files/directory.h"

namespace inkling::data {

namespace fs = std::filesystem;

namespace {

// Calls enters(path, name) for every entry of a folder, and recurses where it returns true.
void walk(const fs::path& folder, const std::function<bool(const fs::path& path, const std::string& name)>& enters) {
    for (const std::string& name : formats::names_in(folder)) {
        const fs::path path = folder / name;
        if (enters(path, name)) walk(path, enters);
    }
}

bool is_own_folder(const fs::path& path) {  // not a link to one
    std::error_code gone;
    return fs::is_directory(fs::symlink_status(path, gone));
}

// Stops counting at a large number.
std::size_t count_files(const fs::path& folder) {
    std::size_t n = 0;
    try {
        walk(folder, [&](const fs::path& path, const std::string&) {
            const bool directory = is_own_folder(path);
            n += !directory;
            return directory && n < 1'000'000;
        });
    } catch (const Error&) {  // one that cannot be read
    }
    return n;
}

// Why a folder or file holds no user's text; "" where it may.
std::string reason_to_skip(const fs::path& path, const std::string& name, bool directory) {
    if (!directory) return name.starts_with('.') ? "hidden" : "";
    if (name.starts_with('.') || name == "node_modules" || name == "__pycache__") return "in " + name;
    std::error_code none;
    const bool run = fs::exists(path / "config.toml", none) && fs::exists(path / "metrics.jsonl", none);
    return run ? "in runs of Inkling" : "";
}

}  // namespace

FoundFiles find_files(const std::string& folder, const std::vector<std::string>& exclude) {
    FoundFiles found;
    const auto enters = [&](const fs::path& path, const std::string& name) {
        const bool directory = is_own_folder(path);
        const std::string below = path.string().substr(folder.size() + !folder.ends_with('/'));
        const std::string reason = is_excluded(below, exclude) ? "excluded" : reason_to_skip(path, name, directory);
        if (!reason.empty()) {
            found.skipped.push_back({reason, path.string(), directory ? count_files(path) : 1});
            return false;
        }
        std::error_code gone;  // e.g. a symbolic link to nothing: not a regular file
        if (!directory && fs::is_regular_file(path, gone)) found.files.push_back(path);
        return directory;
    };
    try {
        walk(folder, enters);
    } catch (const Error& e) {
        throw BadInput(e.what());
    }
    std::sort(found.files.begin(), found.files.end());
    return found;
}

bool is_pattern(std::string_view path) { return path.find_first_of("*?[") != std::string_view::npos; }

std::vector<std::string> matching_paths(const std::string& pattern) {
    struct Found {
        glob_t list = {};
        ~Found() { ::globfree(&list); }
    } found;
    const int error = ::glob(pattern.c_str(), 0, nullptr, &found.list);
    if (error == GLOB_NOSPACE) throw std::bad_alloc();
    check<BadInput>(error == 0 || error == GLOB_NOMATCH, "{}: the folders that it names cannot be listed", pattern);
    return {found.list.gl_pathv, found.list.gl_pathv + found.list.gl_pathc};
}

bool is_excluded(std::string_view path, const std::vector<std::string>& patterns) {
    const auto matches = [](const std::string& pattern, std::string_view name) {
        return ::fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
    };
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& path_pattern) {
        const std::string pattern =
            path_pattern.ends_with('/') ? path_pattern.substr(0, path_pattern.size() - 1) : path_pattern;
        if (pattern.find('/') != std::string::npos)
            return matches(pattern, path) || matches(pattern + "/*", path) || matches("*/" + pattern, path);
        for (std::size_t at = 0; at < path.size();) {
            const std::size_t end = std::min(path.find('/', at), path.size());
            if (end > at && matches(pattern, path.substr(at, end - at))) return true;
            at = end + 1;
        }
        return false;
    });
}

}  // namespace inkling::data

#include "data/text/shell_patterns.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <new>

#include "engine/base/check.h"

namespace inkling::data {

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
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& given) {
        const std::string pattern = given.ends_with('/') ? given.substr(0, given.size() - 1) : given;
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

#include "formats/toml_nesting.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/check.h"

namespace inkling::formats {
namespace {

constexpr std::size_t max_toml_depth = 32;

// The place behind the string that begins at text[at] with ", ', """ or '''; the end of the text if it is not closed.
std::size_t behind_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const bool three = text.substr(at).starts_with(std::string(3, quote));
    const std::string end(three ? 3 : 1, quote);
    for (at += end.size(); at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (text.substr(at).starts_with(end)) {
            at += end.size();
            for (int more = 0; three && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;  // """a"""""
            return at;
        } else if (!three && text[at] == '\n') {
            return at;  // an error of its own
        }
    }
    return text.size();
}

}  // namespace

void check_toml_nesting(std::string_view text, const std::string& what) {
    std::size_t open = 0, dots = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = behind_string(text, at);
            continue;
        }
        if (c == '#') at = std::min(text.find('\n', at), text.size() - 1);
        if (c == '[' || c == '{') ++open;
        if ((c == ']' || c == '}') && open > 0) --open;
        if (c == '.') {
            ++dots;
        } else if (std::string_view("=,[]{}\n#").find(c) != std::string_view::npos) {
            dots = 0;
        }
        if (open > max_toml_depth || dots >= max_toml_depth)
            throw BadInput(fmt::format(
                "{}: line {}: nested deeper than {} levels: settings are plain names and values", what,
                1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'), max_toml_depth));
        ++at;
    }
}

}  // namespace inkling::formats

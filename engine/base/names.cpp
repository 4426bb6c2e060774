#include "engine/base/names.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/suggest.h"

namespace inkling {

std::string_view cut_text(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    std::size_t end = bytes;
    for (int back = 0; back < 3 && end > 0 && continues(end); ++back) --end;  // a character has at most 4 bytes
    return text.substr(0, continues(end) ? bytes : end);                      // not UTF-8: cut anywhere
}

std::string shortened(std::string_view text, std::size_t bytes) {
    return std::string(cut_text(text, bytes)) + (text.size() > bytes ? "..." : "");
}

std::string shown_name(std::string_view name) {
    std::string text = shortened(name, 80);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

void refuse_name(std::string_view what, std::string_view name, std::vector<std::string> known) {
    std::sort(known.begin(), known.end());
    throw Error(fmt::format("{} must be one of {}, got '{}'{}", what, fmt::join(known, ", "), shown_name(name),
                            did_you_mean(name, known)));
}

}  // namespace inkling

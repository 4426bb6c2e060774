#include "engine/base/names.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/suggest.h"

namespace inkling {

std::string shown_name(std::string_view name) {
    std::string text(name.substr(0, 80));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text + (name.size() > 80 ? "..." : "");
}

void refuse_name(std::string_view what, std::string_view name, std::vector<std::string> known) {
    std::sort(known.begin(), known.end());
    throw Error(fmt::format("{} must be one of {}, got '{}'{}", what, fmt::join(known, ", "), shown_name(name),
                            did_you_mean(name, known)));
}

}  // namespace inkling

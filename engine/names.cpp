#include "engine/names.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/suggest.h"

namespace inkling {

void refuse_name(std::string_view what, std::string_view name, std::vector<std::string> known) {
    std::sort(known.begin(), known.end());
    throw Error(
        fmt::format("{} must be one of {}, got '{}'{}", what, fmt::join(known, ", "), name, did_you_mean(name, known)));
}

}  // namespace inkling

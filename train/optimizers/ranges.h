// Ranges of the flat buffer of parameters, such as those that one of several processes updates.
#pragma once

#include <cstddef>
#include <vector>

namespace inkling::train {

struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};
using Ranges = std::vector<Range>;  // in order, without overlap

}  // namespace inkling::train

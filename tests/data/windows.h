// Shows where a sampler's windows lie.
#pragma once

#include <vector>

#include "data/sampler.h"

namespace inkling::testing {

// The starts of the windows of steps [0, steps), in order, for tokens that are positions().
inline std::vector<std::size_t> starts(const data::Sampler& sampler, std::uint64_t steps) {
    std::vector<std::size_t> all;
    data::Batch batch;
    for (std::uint64_t step = 0; step < steps; ++step) {
        sampler.fill(step, batch);
        for (std::size_t b = 0; b < batch.inputs.dim(0); ++b)
            all.push_back(static_cast<std::size_t>(batch.inputs(b, 0)));
    }
    return all;
}

// 0, 1, 2, ...: each token's value is its position.
inline std::vector<std::int32_t> positions(std::size_t n) {
    std::vector<std::int32_t> tokens(n);
    for (std::size_t i = 0; i < n; ++i) tokens[i] = static_cast<std::int32_t>(i);
    return tokens;
}

}  // namespace inkling::testing

#include "train/step/weight_average.h"

#include "engine/base/parallel.h"
#include "engine/kernels/simd.h"

namespace inkling::train {

WeightAverage::WeightAverage(nn::FlatParameters<float>& parameters, double decay)
    : parameters_(parameters), decay_(decay) {
    start();
}

void WeightAverage::start() {
    if (on()) kept = parameters_.values().clone();
}

void WeightAverage::update(std::uint64_t updates) {
    if (!on()) return;
    const auto t = static_cast<double>(updates);
    const Vec<float> rest(static_cast<float>(1 - std::min(decay_, (1 + t) / (10 + t))));
    const float* const p = parameters_.values().data();
    parallel_for(kept.size(), kGrain, kLine, [&](std::size_t at, std::size_t end) {
        simd_map(end - at, kept.data() + at, {kept.data() + at, p + at},
                 [=](auto mean, auto now) { return mean + (now - mean) * rest; });
    });
}

void WeightAverage::swap() {
    if (!on()) return;
    Array<float>& values = parameters_.values();
    values.count_write();
    std::swap_ranges(values.data(), values.data() + values.size(), kept.data());
}

}  // namespace inkling::train

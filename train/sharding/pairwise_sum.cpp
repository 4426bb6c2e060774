#include "train/sharding/pairwise_sum.h"

#include "engine/base/parallel.h"
#include "engine/kernels/add_row.h"

namespace inkling::train {

void add_range(float* to, const float* from, std::size_t n) {
    parallel_for(n, kGrain,
                 [&](std::size_t begin, std::size_t end) { add_row(end - begin, to + begin, from + begin); });
}

void PairwiseSum::push(const Array<float>& array) {
    const std::size_t n = array.size();
    if (levels_.empty() || levels_.back().arrays > 1) {
        levels_.push_back({1, array.clone()});
        return;
    }
    add_range(levels_.back().sum.data(), array.data(), n);
    levels_.back().arrays = 2;
    while (levels_.size() > 1 && levels_[levels_.size() - 2].arrays == levels_.back().arrays) {
        const Level right = std::move(levels_.back());
        levels_.pop_back();
        add_range(levels_.back().sum.data(), right.sum.data(), n);
        levels_.back().arrays *= 2;
    }
}

void PairwiseSum::add_to(float* last, std::size_t begin, std::size_t end) const {
    if (levels_.empty()) return;
    parallel_pieces(end - begin, [&](std::size_t from, std::size_t to) {
        float* const y = last + begin + from;
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
            add_row(to - from, y, level->sum.data() + begin + from);
    });
}

}  // namespace inkling::train

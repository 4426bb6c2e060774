#include "data/packing.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "data/permutation.h"
#include "engine/base/check.h"
#include "engine/base/random.h"

namespace inkling::data {

std::size_t PackedExamples::places(std::size_t example) const {
    const std::size_t ids = dataset_.length(example);
    return std::min(length_, ids > 0 ? ids - 1 : 0);
}

// The longest first, each into the row with the least room that is enough (best fit, decreasing).
PackedExamples::PackedExamples(const Dataset& dataset, std::size_t first, std::size_t last, std::size_t length)
    : dataset_(dataset), length_(length) {
    const auto learned_of = [&](std::size_t e, std::size_t n) {  // of its first n places
        const auto targets = dataset.learn.subspan(dataset.begin(e) + 1, n);
        return static_cast<std::size_t>(std::count(targets.begin(), targets.end(), 1));
    };
    const auto learned = [&](std::size_t e) { return learned_of(e, places(e)); };
    std::vector<std::size_t> order;
    for (std::size_t e = first; e < last; ++e) {
        const std::size_t ids = dataset.length(e);
        const bool some = places(e) > 0 && learned(e) > 0, cut = ids > length + 1,
                   beyond = !some && cut && learned_of(e, ids - 1) > 0;
        if (some) order.push_back(e);
        cut_ += cut && (some || beyond);
        cut_before_answer_ += beyond;
        left_out_ += !some && !beyond;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places(a) > places(b); });
    std::multimap<std::size_t, std::size_t> rooms;  // rows, by the room that they have
    for (const std::size_t e : order) {
        const std::size_t n = places(e);
        auto found = rooms.lower_bound(n);
        if (found == rooms.end()) {
            found = rooms.emplace(length, rows_.size());
            rows_.emplace_back();
            targets_.push_back(0);
        }
        const auto [room, row] = *found;
        rooms.erase(found);
        if (room > n) rooms.emplace(room - n, row);
        rows_[row].push_back(e);
        targets_[row] += learned(e);
    }
    all_targets_ = std::accumulate(targets_.begin(), targets_.end(), std::size_t{0});
}

void PackedExamples::require_rows() const {
    const std::string within =
        cut_before_answer_ == 0 ? "" : fmt::format(" within a row of {} tokens: longer rows are needed", length_);
    check<BadInput>(!rows_.empty(), "no document has anything to learn{}", within);
}

void PackedExamples::fill(std::size_t row, std::int32_t* inputs, std::int32_t* targets, std::int32_t* begins) const {
    std::size_t at = 0;
    for (const std::size_t e : rows_[row]) {
        const std::size_t n = places(e), begin = dataset_.begin(e);
        const TokenView ids = dataset_.ids.subspan(begin, n + 1);
        ids.first(n).copy_to(inputs + at);
        ids.subspan(1).copy_to(targets + at);
        for (std::size_t i = 0; i < n; ++i)
            if (!dataset_.learn[begin + 1 + i]) targets[at + i] = no_target;
        std::fill_n(begins + at, n, static_cast<std::int32_t>(at));
        at += n;
    }
    std::fill_n(inputs + at, length_ - at, 0);  // the padding is an example of which nothing is learned
    std::fill_n(targets + at, length_ - at, no_target);
    std::fill_n(begins + at, length_ - at, static_cast<std::int32_t>(at));
}

ExampleSampler::ExampleSampler(const PackedExamples& rows, std::size_t batch, std::uint64_t seed)
    : rows_(rows), batch_(batch), seed_(seed) {
    rows.require_rows();
}

std::size_t ExampleSampler::row_of(std::uint64_t row) const {
    constexpr std::uint64_t first_stream = 0x646F6373ull << 24;  // "docs" in ASCII, far above those of a Generator
    const std::uint64_t epoch = row / rows_.size();
    return permute({seed_, first_stream + epoch}, row % rows_.size(), rows_.size());
}

std::size_t ExampleSampler::targets(std::uint64_t step) const {
    std::size_t sum = 0;
    for (std::size_t b = 0; b < batch_; ++b) sum += rows_.targets(row_of(step * batch_ + b));
    return sum;
}

void ExampleSampler::fill(std::uint64_t step, Batch& out) const {
    const std::size_t T = rows_.length();
    const Shape shape{batch_, T};
    if (out.begins.shape() != shape) out = {IdArray(shape), IdArray(shape), IdArray(shape)};
    for (std::size_t b = 0; b < batch_; ++b) {
        rows_.fill(row_of(step * batch_ + b), out.inputs.data() + b * T, out.targets.data() + b * T,
                   out.begins.data() + b * T);
    }
}

}  // namespace inkling::data

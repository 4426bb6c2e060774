#include "train/sharding/partition.h"

#include <algorithm>
#include <numeric>

namespace inkling::train {

Partition::Partition(nn::FlatParameters<float>& parameters, std::size_t processes,
                     const std::function<double(const Entry&)>& whole_cost) {
    const auto& entries = parameters.entries();
    const std::size_t all = parameters.values().size();
    // several pieces per process, so that it can update one while it sends another
    const std::size_t longest = std::clamp((all / (4 * processes) + kChunk - 1) / kChunk * kChunk, kChunk, kPiece);
    std::vector<double> costs;
    bool open = false;  // the last piece may grow
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::size_t begin = entries[i].offset;
        const std::size_t end = i + 1 < entries.size() ? entries[i + 1].offset : all;
        const double whole = whole_cost(entries[i]);
        if (whole > 0) pieces_.push_back({{begin, begin}, 0}), costs.push_back(whole);
        for (std::size_t at = begin; at < end; at += kChunk) {
            const std::size_t to = std::min(end, at + kChunk);
            chunks_.push_back({{at, to}, 0});
            if (whole == 0 && (!open || pieces_.back().size() + to - at > longest))
                pieces_.push_back({{at, at}, 0}), costs.push_back(0);
            pieces_.back().end = to;
            if (whole == 0) costs.back() += static_cast<double>(to - at), open = true;
        }
        if (whole > 0) open = false;
    }
    std::vector<std::size_t> dearest(pieces_.size());
    std::iota(dearest.begin(), dearest.end(), std::size_t{0});
    std::stable_sort(dearest.begin(), dearest.end(), [&](auto a, auto b) { return costs[a] > costs[b]; });
    std::vector<double> load(processes, 0);
    for (const std::size_t piece : dearest) {
        const auto least = std::min_element(load.begin(), load.end());
        *least += costs[piece];
        pieces_[piece].owner = static_cast<std::size_t>(least - load.begin());
    }
    std::size_t piece = 0;
    for (Piece& chunk : chunks_) {
        while (pieces_[piece].end <= chunk.begin) ++piece;
        chunk.owner = pieces_[piece].owner;
    }
}

Ranges Partition::ranges_of(std::size_t owner) const {
    Ranges own;
    for (const Piece& piece : pieces_)
        if (piece.owner == owner) own.push_back(piece);
    return own;
}

}  // namespace inkling::train

// Assigns parameters and their optimizer state to processes (ZeRO stage 1, Rajbhandari et al. 2020): cuts the flat
// buffer into pieces, and distributes them so that all have equal work. A piece is also the unit of sending.
//   const Partition ownership(parameters, 4, [&](const auto& entry) { return whole_cost(options, entry); });
//   const Ranges own = ownership.ranges_of(2);
#pragma once

#include <functional>

#include "nn/flat.h"
#include "train/optimizers/optimizer.h"

namespace inkling::train {

struct Piece : Range {
    std::size_t owner;
};

class Partition {
  public:
    using Entry = nn::FlatParameters<float>::Entry;

    // `whole_cost` is the cost of a parameter that must not be cut: see optimizer.h.
    Partition(nn::FlatParameters<float>& parameters, std::size_t processes,
              const std::function<double(const Entry&)>& whole_cost);

    const std::vector<Piece>& pieces() const { return pieces_; }  // in order, without gaps
    Ranges ranges_of(std::size_t owner) const;                    // the owner's pieces

    // The gradient's norm is the root of a sum of squares over chunks, added in this order. No piece cuts a chunk.
    const std::vector<Piece>& chunks() const { return chunks_; }

    static constexpr std::size_t kChunk = 4096;        // elements, at most
    static constexpr std::size_t kPiece = 128 * 1024;  // elements, of parameters that may be cut

  private:
    std::vector<Piece> pieces_, chunks_;
};

}  // namespace inkling::train

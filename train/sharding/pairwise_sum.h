// Sums 2^k arrays as a balanced binary tree, ((g0 + g1) + (g2 + g3)) + ..., and keeps at most k of them: like a binary
// counter, it merges two sums of equally many arrays. The order of additions, and so the sum's bits, do not depend on
// which process adds which part of the tree.
//   PairwiseSum sum;
//   for (each array but the last) sum.push(array);
//   sum.add_to(last.data(), 0, last.size());
#pragma once

#include <vector>

#include "engine/array/array.h"

namespace inkling::train {

class PairwiseSum {
  public:
    void push(const Array<float>& array);  // copies the array
    // Adds the sum to elements [begin, end) of the last array, which then hold the total.
    void add_to(float* last, std::size_t begin, std::size_t end) const;
    void clear() { levels_.clear(); }

  private:
    struct Level {
        std::size_t arrays;  // in this sum
        Array<float> sum;
    };
    std::vector<Level> levels_;  // each of fewer arrays than the one before
};

// to[i] += from[i]
void add_range(float* to, const float* from, std::size_t n);

}  // namespace inkling::train

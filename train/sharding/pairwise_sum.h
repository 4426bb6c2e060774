// The sum of 2^k arrays as a balanced binary tree, ((g0 + g1) + (g2 + g3)) + ..., while no more than k of them are
// kept: as a binary counter, two sums of as many arrays become one. The order of additions, and so the sum's bits, do
// not depend on who adds which part of the tree.
//   PairwiseSum sum;
//   for (each array but the last) sum.push(array);
//   sum.add_to(last.data(), 0, last.size());
#pragma once

#include <vector>

#include "engine/array/array.h"

namespace inkling::train {

class PairwiseSum {
  public:
    void push(const Array<float>& array);  // which is copied
    // Elements [begin, end) of the last array become those of the sum of all.
    void add_to(float* last, std::size_t begin, std::size_t end) const;
    void clear();  // memory is kept for the next sum

  private:
    struct Level {
        std::size_t arrays;  // that it is the sum of
        Array<float> sum;
    };
    Array<float> room_for(std::size_t n);

    std::vector<Level> levels_;       // of fewer arrays each
    std::vector<Array<float>> room_;  // of what is not kept now
};

// to[i] += from[i]
void add_range(float* to, const float* from, std::size_t n);

}  // namespace inkling::train

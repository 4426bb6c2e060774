// A stream through a model's blocks, one after the other.
#pragma once

#include <memory>
#include <vector>

#include "nn/checkpoint.h"

namespace inkling::models {

// Block::forward(x, weights) -> x. `again`: each block is run once more in backward. When asked, each block's attention
// weights are appended to `weights`.
template <class T, class Block>
Tensor<T> run_blocks(const std::vector<std::unique_ptr<Block>>& blocks, Tensor<T> x, bool again,
                     std::vector<Tensor<T>>* weights) {
    for (const auto& block : blocks) {
        if (again && !weights) {
            x = nn::checkpoint<T>([&block = *block](const Tensor<T>& in) { return block.forward(in); }, x);
            continue;
        }
        if (weights) weights->emplace_back();
        x = block->forward(x, weights ? &weights->back() : nullptr);
    }
    return x;
}

}  // namespace inkling::models

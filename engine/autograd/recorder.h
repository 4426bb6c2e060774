// Gives gradients a graph of their own: backward runs with a Recorder, and ops pass it tensors instead of arrays.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
struct Recorder {
    std::unordered_set<const Node<T>*> wanted;  // nodes with requested gradients, and nodes that lead to them
    std::unordered_map<const Node<T>*, Tensor<T>> sums{};  // the gradients so far
    NodePtr<T> node{};                                     // the node in backward now
    Tensor<T> dy{};                                        // its gradient

    void add(const Node<T>& to, const Tensor<T>& g);
};

// Whether the gradient of an end flows on to other ends that it depends on.
enum class Ends { flow_on, stop };

// The gradients of `ends` under dy, the gradient of `root`, as tensors with a graph; undefined if root does
// not depend on an end.
template <class T>
std::vector<Tensor<T>> recorded_gradients(const NodePtr<T>& root, const Tensor<T>& dy,
                                          const std::vector<NodePtr<T>>& ends, Ends at_ends);

extern template struct Recorder<float>;
extern template struct Recorder<double>;

}  // namespace inkling

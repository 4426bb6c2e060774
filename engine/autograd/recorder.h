// How gradients get a graph of their own: backward runs with a Recorder, and ops hand it tensors rather than arrays.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "engine/autograd/tensor.h"

namespace inkling {

template <class T>
struct Recorder {
    std::unordered_set<const Node<T>*> wanted;             // nodes whose gradients are asked for, or lead to those
    std::unordered_map<const Node<T>*, Tensor<T>> sums{};  // the gradients so far
    NodePtr<T> node{};                                     // whose backward runs now
    Tensor<T> dy{};                                        // its gradient

    void add(const Node<T>& to, const Tensor<T>& g);
};

// Whether the gradient of an end flows on, to other ends that it depends on.
enum class Ends { flow_on, stop };

// The gradients of `ends` under dy, the gradient of `root`, as tensors with a graph; undefined where root does not
// depend on one.
template <class T>
std::vector<Tensor<T>> recorded_gradients(const NodePtr<T>& root, const Tensor<T>& dy,
                                          const std::vector<NodePtr<T>>& ends, Ends at_ends);

extern template struct Recorder<float>;
extern template struct Recorder<double>;

}  // namespace inkling

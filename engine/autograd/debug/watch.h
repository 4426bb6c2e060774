// Requests for the gradient of a node: Tensor::retain_grad(), on_grad() and on_grad_ready().
#pragma once

#include <unordered_map>

#include "engine/autograd/node.h"

namespace inkling {

template <class T>
struct Watch {  // under the node's lock (claim.h)
    std::vector<std::function<void(Array<T>& dy)>> hooks;
    std::vector<std::function<void()>> notices;
    bool retain = false;
    Array<T> retained;  // the sum since zero_grad(); undefined before the first
};

// Calls the hooks of a watched node, which may change dy, its complete gradient.
template <class T>
void hand_out(Node<T>& node, Array<T>& dy);
// The same for a watched leaf, with its own gradient, to which other threads may add afterwards.
template <class T>
void hand_out_leaf(Node<T>& leaf);
template <class T>
bool has_hooks(Node<T>& node);  // of on_grad()
template <class T>
void refuse_in_hooks(Node<T>& leaf);  // throws if the leaf's hooks are running on this thread

// The watched leaves of a graph. A leaf's gradient is complete when the last node that adds to it is done.
template <class T>
class WatchedLeaves {
  public:
    void add(const Node<T>& node);   // a node whose backward will run
    void done(const Node<T>& node);  // after the node's backward: hands out complete leaves

  private:
    std::unordered_map<Node<T>*, std::size_t> open_;  // contributions that each leaf still waits for
};

}  // namespace inkling

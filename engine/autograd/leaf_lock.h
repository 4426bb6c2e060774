// Threads may run backward at the same time through graphs that share leaves, and ask for a leaf's gradient meanwhile:
// Node::mutex guards a leaf's gradient. For any node it guards the requests of users (debug/watch.h) and the function
// that recomputes its value. All else of an intermediate node belongs to its run. A thread that waits for the mutex
// must not hold Python's lock, because the other may need it. Hooks of a leaf run while its mutex is held; they may
// read and zero its gradient.
#pragma once

#include <bit>

#include "engine/autograd/node.h"

namespace inkling {

// Locks the leaves that the backward of one op writes to. An op that holds one leaf must not wait for another, so if
// another thread holds the leaf, the gradient is kept aside until the op is done.
template <class T>
class LeafLocks {
  public:
    explicit LeafLocks(const Node<T>& node) : node_(node) {}
    ~LeafLocks() { release(); }
    LeafLocks(const LeafLocks&) = delete;
    LeafLocks& operator=(const LeafLocks&) = delete;

    bool take(std::size_t i) {  // until the op is done; false if another thread holds leaf i
        Node<T>& input = *node_.inputs[i];
        if (!input.is_leaf() || (i < 64 && held_ >> i & 1)) return true;
        if (i >= 64 || !input.mutex.try_lock()) return false;
        held_ |= std::uint64_t{1} << i;
        return true;
    }
    const Array<T>& add_later(Node<T>& leaf, Array<T> g) {
        waiting_.emplace_back(&leaf, std::move(g));
        return waiting_.back().second;
    }
    void finish() {
        release();  // first: a thread that waits for a leaf must hold none
        for (auto& [leaf, g] : waiting_) {
            const std::scoped_lock lock(leaf->mutex);
            add_gradient(*leaf, std::move(g));
        }
        waiting_.clear();
    }

  private:
    void release() {
        for (; held_; held_ &= held_ - 1)
            node_.inputs[static_cast<std::size_t>(std::countr_zero(held_))]->mutex.unlock();
    }

    const Node<T>& node_;
    std::uint64_t held_ = 0;  // bit i: leaf i is locked
    std::vector<std::pair<Node<T>*, Array<T>>> waiting_;
};

}  // namespace inkling

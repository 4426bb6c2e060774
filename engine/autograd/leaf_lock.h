// Threads may run backward at the same time through graphs that share leaves; one thread at a time writes to a leaf's
// gradient. An intermediate node belongs to one thread and needs no lock.
#pragma once

#include <thread>

#include "engine/autograd/node.h"

namespace inkling {

// Locks the gradient of a leaf for this thread, to the end of the scope. Waits for the thread that holds it.
template <class T>
class SoleWriter {
  public:
    explicit SoleWriter(Node<T>& leaf) : leaf_(leaf) {
        const void* none = nullptr;
        while (!leaf.leaf.writer.compare_exchange_weak(none, this, std::memory_order_acquire)) {
            none = nullptr;
            std::this_thread::yield();
        }
    }
    ~SoleWriter() { leaf_.leaf.writer.store(nullptr, std::memory_order_release); }
    SoleWriter(const SoleWriter&) = delete;
    SoleWriter& operator=(const SoleWriter&) = delete;

  private:
    Node<T>& leaf_;
};

// Locks the leaves that the backward of one op writes to. An op that holds one leaf must not wait for another, so if
// another thread holds the leaf, the gradient is kept aside until the op is done.
template <class T>
class LeafLocks {
  public:
    explicit LeafLocks(const Node<T>& node) : node_(node) {}
    ~LeafLocks() { release(); }
    LeafLocks(const LeafLocks&) = delete;
    LeafLocks& operator=(const LeafLocks&) = delete;

    bool take(Node<T>& input) {  // until the op is done; false if another thread holds the leaf
        const void* none = nullptr;
        auto& writer = input.leaf.writer;
        return !input.is_leaf() || writer.load(std::memory_order_relaxed) == this ||
               writer.compare_exchange_strong(none, this, std::memory_order_acquire);
    }
    const Array<T>& add_later(Node<T>& leaf, Array<T> g) {
        waiting_.emplace_back(&leaf, std::move(g));
        return waiting_.back().second;
    }
    void finish() {
        release();  // releases first: a thread that waits for a leaf must hold none
        for (auto& [leaf, g] : waiting_) {
            const SoleWriter<T> writer(*leaf);
            add_gradient(*leaf, std::move(g));
        }
        waiting_.clear();
    }

  private:
    void release() {
        for (const NodePtr<T>& input : node_.inputs) {
            if (input && input->leaf.writer.load(std::memory_order_relaxed) == this)
                input->leaf.writer.store(nullptr, std::memory_order_release);
        }
    }

    const Node<T>& node_;
    std::vector<std::pair<Node<T>*, Array<T>>> waiting_;
};

}  // namespace inkling

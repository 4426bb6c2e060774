// Threads may run backward at the same time through graphs that share leaves, and ask for a leaf's gradient meanwhile;
// one thread at a time has it. What an intermediate node holds belongs to its run (run.h), but for what users ask of it
// (watch.h) and the function that recomputes its value.
#pragma once

#include "engine/autograd/node.h"

namespace inkling {

// The hooks of a leaf run on this thread, which holds the leaf's lock. They may read and zero its gradient.
class InHooks {
  public:
    explicit InHooks(const void* leaf) : leaf_(leaf), outer_(innermost) { innermost = this; }
    ~InHooks() { innermost = outer_; }
    InHooks(const InHooks&) = delete;
    InHooks& operator=(const InHooks&) = delete;
    static bool of(const void* leaf);

  private:
    static constinit thread_local const InHooks* innermost;
    const void* leaf_;
    const InHooks* outer_;
};

template <class T>
void unlock(Node<T>& node) {
    node.holder.store(nullptr, std::memory_order_release);
    node.holder.notify_all();
}

// Locks a node for this thread, to the end of the scope. Waits for the thread that holds it. A thread that waits must
// not hold Python's lock, because the other may need it.
template <class T>
class SoleWriter {
  public:
    explicit SoleWriter(Node<T>& node) : node_(InHooks::of(&node) ? nullptr : &node) {
        const void* other = nullptr;
        while (node_ && !node_->holder.compare_exchange_weak(other, this, std::memory_order_acquire)) {
            if (other) node_->holder.wait(other, std::memory_order_relaxed);
            other = nullptr;
        }
    }
    ~SoleWriter() {
        if (node_) unlock(*node_);
    }
    SoleWriter(const SoleWriter&) = delete;
    SoleWriter& operator=(const SoleWriter&) = delete;

  private:
    Node<T>* const node_;
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
        return !input.is_leaf() || input.holder.load(std::memory_order_relaxed) == this ||
               input.holder.compare_exchange_strong(none, this, std::memory_order_acquire);
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
        for (const NodePtr<T>& input : node_.inputs)
            if (input && input->holder.load(std::memory_order_relaxed) == this) unlock(*input);
    }

    const Node<T>& node_;
    std::vector<std::pair<Node<T>*, Array<T>>> waiting_;
};

}  // namespace inkling

// Threads share graphs: several runs may read a node at the same time, a run that changes nodes owns each exclusively,
// and a run that would have to wait for another throws.
// Threads may run backward at the same time through graphs that share leaves, and ask for a leaf's gradient meanwhile.
// Node::mutex guards the gradient of a leaf; in any node, the requests of users (debug/watch.h) and output->recompute.
// All else of an intermediate node belongs to its run. A thread that waits for the mutex must not hold Python's lock,
// because the other may need it: hooks of a leaf run while its mutex is held.
#pragma once

#include "engine/autograd/node.h"

namespace inkling {

// The access of a run to the nodes of a graph: to sum gradients and release nodes, or only to read.
enum class Access { change, read };

// A node that belongs to a run until the claim ends.
template <class T>
class Claim {
  public:
    Claim(const char* what, NodePtr<T> node, Access access) : node_(std::move(node)), access_(access) {
        int runs = 0;
        const auto taken = [&] {
            const int then = access == Access::read ? runs + 1 : -1;
            return node_->runs.compare_exchange_weak(runs, then, std::memory_order_acquire);
        };
        while (!taken()) {
            check(runs == 0 || (access == Access::read && runs > 0),
                  "{}: the graph behind '{}' is being run now, by another thread or by the caller of a hook: let one "
                  "run end before the next begins, or give each thread a graph of its own",
                  what, node_->op);
        }
    }
    Claim(Claim&&) noexcept = default;
    ~Claim() { end(); }

    const NodePtr<T>& node() const { return node_; }

    // Gives the node back, without the gradient that an exception may have left.
    void end() {
        if (!node_) return;
        if (access_ == Access::read) {
            node_->runs.fetch_sub(1, std::memory_order_release);
        } else {
            if (node_->has_grad) node_->has_grad = false, node_->grad = Array<T>();
            node_->runs.store(0, std::memory_order_release);
        }
        node_.reset();
    }

  private:
    NodePtr<T> node_;
    Access access_;
};

}  // namespace inkling

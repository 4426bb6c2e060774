// The nodes of a graph, in the order in which a run of backward takes them.
#pragma once

#include <algorithm>
#include <queue>

#include "engine/autograd/node.h"

namespace inkling {

// What a run does with the nodes of a graph: it sums gradients in them and may release them, or it only reads.
enum class Access { change, read };

// All nodes that `root` depends on, outputs first, without leaves, nodes older than `oldest` and those of `blocked`.
// Nodes are numbered in order of creation, which is a topological order. The nodes belong to this run as long as it
// lives: runs that read may share them, and a run that must wait for another throws.
template <class T>
class Walk {
  public:
    Walk(const char* what, const NodePtr<T>& root, Access access, std::uint64_t oldest = 0,
         const std::vector<NodePtr<T>>& blocked = {})
        : what_(what), access_(access) {
        if (root->is_leaf() || contains(blocked, root)) return;
        try {
            collect(root, oldest, blocked);
        } catch (...) {
            leave_all();
            throw;
        }
    }
    ~Walk() { leave_all(); }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    std::vector<NodePtr<T>> nodes;

    static bool contains(const std::vector<NodePtr<T>>& all, const NodePtr<T>& node) {
        return std::find(all.begin(), all.end(), node) != all.end();
    }

    // Gives a node back, without the gradient that an exception may have left.
    void leave(NodePtr<T>& node) {
        if (access_ == Access::read) {
            node->runs.fetch_sub(1, std::memory_order_release);
        } else {
            if (node->has_grad) node->has_grad = false, node->grad = Array<T>();
            node->runs.store(0, std::memory_order_release);
        }
        node.reset();
    }

  private:
    // A node that several others need leaves the queue several times in a row.
    void collect(const NodePtr<T>& root, std::uint64_t oldest, const std::vector<NodePtr<T>>& blocked) {
        const auto before = [](const NodePtr<T>& a, const NodePtr<T>& b) { return a->order < b->order; };
        std::priority_queue<NodePtr<T>, std::vector<NodePtr<T>>, decltype(before)> next(before, {root});
        for (; !next.empty(); next.pop()) {
            const NodePtr<T> node = next.top();
            if (!nodes.empty() && node == nodes.back()) continue;
            nodes.emplace_back();
            enter(*node);
            nodes.back() = node;
            check(!node->released,
                  "{}: the graph behind '{}' was already run and released: keep it in the run before, with "
                  "Graph::keep (Python: keep_graph=True)",
                  what_, node->op);
            for (const NodePtr<T>& input : node->inputs)
                if (input && !input->is_leaf() && input->order >= oldest && !contains(blocked, input)) next.push(input);
        }
    }
    void enter(Node<T>& node) {
        int runs = 0;
        const auto taken = [&] {
            const int then = access_ == Access::read ? runs + 1 : -1;
            return node.runs.compare_exchange_weak(runs, then, std::memory_order_acquire);
        };
        while (!taken()) {
            check(runs == 0 || (access_ == Access::read && runs > 0),
                  "{}: the graph behind '{}' is being run now, by another thread or by the caller of a hook: let one "
                  "run end before the next begins, or give each thread a graph of its own",
                  what_, node.op);
        }
    }
    void leave_all() {
        for (NodePtr<T>& node : nodes)
            if (node) leave(node);
    }

    const char* const what_;
    const Access access_;
};

}  // namespace inkling

// Shared by runs of backward: the nodes of a graph in order, and the backward of one node.
#pragma once

#include <algorithm>
#include <queue>

#include "engine/autograd/backward.h"
#include "engine/autograd/recorder.h"

namespace inkling {

// All nodes that `root` depends on, except leaves and nodes older than `oldest`; outputs first. Nodes are numbered in
// order of creation, which is a topological order. A node that several others need leaves the queue several times in a
// row.
template <class T>
std::vector<NodePtr<T>> nodes_from(const NodePtr<T>& root, std::uint64_t oldest = 0) {
    const auto before = [](const NodePtr<T>& a, const NodePtr<T>& b) { return a->order < b->order; };
    std::priority_queue<NodePtr<T>, std::vector<NodePtr<T>>, decltype(before)> next(before, {root});
    std::vector<NodePtr<T>> nodes;
    for (; !next.empty(); next.pop()) {
        const NodePtr<T> node = next.top();
        if (!nodes.empty() && node == nodes.back()) continue;
        check(!node->released,
              "backward: the graph behind '{}' was already run and released: keep it in the run before, with "
              "Graph::keep (Python: keep_graph=True)",
              node->op);
        for (const NodePtr<T>& input : node->inputs)
            if (input && !input->is_leaf() && input->order >= oldest) next.push(input);
        nodes.push_back(node);
    }
    return nodes;
}

// Runs a node's backward. A recorder collects the gradients as tensors.
template <class T>
void run(Node<T>& node, const Array<T>& dy, Recorder<T>* recorder = nullptr) {
    try {
        Gradients<T> grads(node, recorder);
        detect::check_gradients<T>(node, dy, [&] {
            node.backward(dy, grads);
            grads.finish();
        });
        profile::lap(node.op, true);
    } catch (const ModifiedInPlace& value) {
        throw Error(
            fmt::format("{}: a value that its backward needs, of shape {}, "
                        "was written to in place after it was saved: "
                        "write to a clone instead",
                        node.op, value.shape));
    }
}

// The graph between a root and the ends with requested gradients.
template <class T>
struct Between {
    std::vector<NodePtr<T>> nodes;              // outputs first
    std::unordered_set<const Node<T>*> wanted;  // the ends, and the nodes that lead to them

    Between(const NodePtr<T>& root, const std::vector<NodePtr<T>>& ends) {
        std::uint64_t oldest = root->order;
        for (const NodePtr<T>& end : ends) oldest = std::min(oldest, end->order), wanted.insert(end.get());
        if (!root->is_leaf()) nodes = nodes_from(root, oldest);
        for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
            if (leads_on(**node)) wanted.insert(node->get());
    }
    bool leads_on(const Node<T>& node) const {
        return std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](const auto& input) { return input && wanted.contains(input.get()); });
    }
};

}  // namespace inkling

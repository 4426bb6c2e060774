// The nodes of a graph, in the order in which a run of backward takes them.
#pragma once

#include <algorithm>
#include <queue>

#include "engine/autograd/claim.h"

namespace inkling {

// All nodes that `root` depends on, outputs first. Leaves are left out, and so are nodes older than `oldest` and the
// nodes in `blocked`. Nodes are numbered in order of creation, which is a topological order.
template <class T>
std::vector<Claim<T>> nodes_behind(const char* what, const NodePtr<T>& root, Access access, std::uint64_t oldest = 0,
                                   const std::vector<NodePtr<T>>& blocked = {}) {
    using Next = std::pair<std::uint64_t, const NodePtr<T>*>;  // its order; in the inputs of a claimed node
    std::priority_queue<Next> next;
    const auto push = [&](const NodePtr<T>& node) {
        if (!node->is_leaf() && std::find(blocked.begin(), blocked.end(), node) == blocked.end())
            next.emplace(node->order, &node);
    };
    std::vector<Claim<T>> nodes;
    push(root);
    while (!next.empty()) {
        const NodePtr<T>& node = *next.top().second;
        next.pop();
        // A node that several others need leaves the queue several times in a row.
        if (!nodes.empty() && node == nodes.back().node()) continue;
        nodes.emplace_back(what, node, access);
        check(!node->released,
              "{}: the graph behind '{}' was already run and released: keep it in the run before, with Graph::keep "
              "(Python: keep_graph=True)",
              what, node->op);
        for (const NodePtr<T>& input : node->inputs)
            if (input && input->order >= oldest) push(input);
    }
    return nodes;
}

}  // namespace inkling

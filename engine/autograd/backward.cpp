#include "engine/autograd/backward.h"

#include <queue>

#include "engine/autograd/watch.h"

namespace inkling {
namespace {

// All nodes that `root` depends on, but for leaves; outputs first. Nodes are numbered as they are made, so that order
// is a topological order, and a node that several others need comes out of the queue several times in a row.
template <class T>
std::vector<NodePtr<T>> nodes_from(const NodePtr<T>& root) {
    const auto before = [](const NodePtr<T>& a, const NodePtr<T>& b) { return a->order < b->order; };
    std::priority_queue<NodePtr<T>, std::vector<NodePtr<T>>, decltype(before)> next(before, {root});
    std::vector<NodePtr<T>> nodes;
    for (; !next.empty(); next.pop()) {
        const NodePtr<T> node = next.top();
        if (!nodes.empty() && node == nodes.back()) continue;
        check(!node->released,
              "backward: the graph behind '{}' was already run and released; keep "
              "it with backward(y, dy, Graph::keep)",
              node->op);
        for (const NodePtr<T>& input : node->inputs)
            if (input && !input->is_leaf()) next.push(input);
        nodes.push_back(node);
    }
    return nodes;
}

template <class T>
void run(Node<T>& node, const Array<T>& dy) {
    try {
        Gradients<T> grads(node);
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

template <class T>
void release(Node<T>& node) {
    node.output.recompute = nullptr;
    if (node.output.saves_nothing) return;
    node.released = true;
    node.backward = nullptr;
    node.output.make_grad = nullptr;
    node.inputs.clear();
}

// Intermediate gradients are freed after backward, even when it throws.
template <class T>
struct ForgetGradients {
    std::vector<NodePtr<T>>& nodes;
    ~ForgetGradients() {
        for (const auto& node : nodes)
            if (node) node->has_grad = false, node->grad = Array<T>();
    }
};

}  // namespace

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& dy, Graph after) {
    check_defined("backward", y);
    check(y.requires_grad(),
          "backward: the tensor does not depend on anything "
          "that requires a gradient");
    check(dy.defined() || y.size() == 1,
          "backward: a cotangent is required for a value that is not a scalar, "
          "got shape {}",
          y.shape());
    check(!dy.defined() || dy.shape() == y.shape(),
          "backward: the cotangent must have the value's shape, got {} for {}", dy.shape(), y.shape());
    const auto start = [&] { add_gradient(*y.node(), dy.defined() ? dy.clone() : Array<T>(y.shape(), T{1})); };
    if (y.node()->is_leaf()) {
        {
            const SoleWriter<T> writer(*y.node());
            start();
        }
        if (y.node()->watch) hand_out_leaf(*y.node());
        return;
    }
    std::vector<NodePtr<T>> nodes = nodes_from(y.node());
    const ForgetGradients<T> forget{nodes};
    WatchedLeaves<T> leaves(nodes);
    start();
    for (NodePtr<T>& node : nodes) {
        if (node->has_grad) {
            Array<T> g = std::move(node->grad);
            node->has_grad = false;
            if (node->watch) hand_out(*node, g);
            run(*node, g);
        }
        leaves.done(*node);
        if (after == Graph::release) {
            release(*node);
            node.reset();
        }
    }
}

template void backward(const Tensor<float>&, const ConstArray<float>&, Graph);
template void backward(const Tensor<double>&, const ConstArray<double>&, Graph);

}  // namespace inkling

#include "engine/autograd/run.h"

#include "engine/autograd/debug/watch.h"
#include "engine/base/profile.h"

namespace inkling {
namespace {

template <class T>
void release(Node<T>& node) {
    std::function<ConstArray<T>()> recompute;  // destroyed without the lock
    if (node.output) {
        const std::scoped_lock lock(node.mutex);
        recompute.swap(node.output->recompute);
        if (node.output->saves_nothing) return;
        node.output->make_grad = nullptr;
    }
    node.released = true;
    node.gradient = nullptr;
    node.inputs.clear();
}

template <class T>
std::uint64_t oldest_of(const std::vector<NodePtr<T>>& targets) {
    if (targets.empty()) return 0;
    return (*std::min_element(targets.begin(), targets.end(),
                              [](const auto& a, const auto& b) { return a->order < b->order; }))
        ->order;
}

// While other ops compute the gradient of an op, they record nothing, and profiles count them as part of that op.
struct InsideOp {
    NoGrad no_grad;
    DetectAnomaly::Pause pause;
    ScopedValue<bool> inside{profile::inside_op, true};
};

// Runs the closure of a node, and names the node in its errors.
template <class T, class Body>
void call(const NodePtr<T>& node, GraphRun<T>& run, const ConstArray<std::type_identity_t<T>>& dy, const Body& body) {
    try {
        Gradients<T> grads(node, run);
        detect::check_gradients<T>(*node, dy, grads, [&] { body(grads); });
        profile::lap(node->op, true);
    } catch (const ModifiedInPlace& value) {
        throw Error(
            fmt::format("{}: a value that its backward needs, of shape {}, was written to in place after it was "
                        "saved: write to a clone instead",
                        node->op, value.shape));
    }
}

}  // namespace

template <class T>
GraphRun<T>::GraphRun(const char* what, const NodePtr<T>& root, Into into, const std::vector<NodePtr<T>>& targets,
                      AtTargets at_targets)
    : root_(root),
      into_(into),
      nodes_(nodes_behind(what, root, into == Into::tensors ? Access::read : Access::change, oldest_of(targets),
                          at_targets == AtTargets::stop ? targets : std::vector<NodePtr<T>>())) {
    for (const NodePtr<T>& target : targets) {
        const bool first = wanted_.insert(target.get()).second;
        if (first && !records()) accumulators_[target.get()] = std::make_shared<Node<T>>("gradients", target->shape);
    }
    if (into == Into::leaves) return;
    for (auto claim = nodes_.rbegin(); claim != nodes_.rend(); ++claim)
        if (leads_on(*claim->node())) wanted_.insert(claim->node().get());
}

template <class T>
bool GraphRun<T>::leads_on(const Node<T>& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const auto& input) { return input && wants(*input); });
}

template <class T>
void GraphRun<T>::propagate(Tensor<T> dy, Graph after) {
    WatchedLeaves<T> leaves;
    if (into_ == Into::leaves)
        for (const Claim<T>& claim : nodes_) leaves.add(*claim.node());
    records() ? add(*root_, dy) : add_gradient(accumulator(*root_), dy.array());
    dy = {};
    for (Claim<T>& claim : nodes_) {
        const NodePtr<T>& node = claim.node();
        if (leads_on(*node)) step(node);
        leaves.done(*node);
        if (after == Graph::keep || records()) continue;
        release(*node);
        claim.end();
    }
}

template <class T>
void GraphRun<T>::step(const NodePtr<T>& node) {
    if (records()) return by_ops(node);
    Node<T>& sum = accumulator(*node);
    if (!sum.has_grad) return;
    if (&sum != node.get()) return by_arrays(node, sum.grad);  // a target keeps its gradient and passes it on
    node->has_grad = false;
    by_arrays(node, std::move(node->grad));
}

template <class T>
void GraphRun<T>::by_arrays(const NodePtr<T>& node, Array<T> dy) {
    if (node->watch) hand_out(*node, dy);
    call(node, *this, dy, [&](Gradients<T>& grads) {
        if (node->gradient->has_arrays) return node->gradient->by_arrays(dy, grads);
        const InsideOp scope;
        node->gradient->by_ops(Tensor<T>(std::move(dy)), grads);
    });
}

template <class T>
void GraphRun<T>::by_ops(const NodePtr<T>& node) {
    const auto found = recorded_.find(node.get());
    if (found == recorded_.end()) return;
    check(!has_hooks(*node), "gradients: '{}' has a hook of on_grad(), which writes to an array: it leaves no graph",
          node->op);
    check(
        node->gradient->has_ops,
        "gradients: '{}' cannot be differentiated twice: its backward computes arrays, which have no graph. Write the "
        "part with other ops, or ask for gradients without create_graph",
        node->op);
    const Tensor<T> dy = found->second;
    call(node, *this, dy.value(), [&](Gradients<T>& grads) { node->gradient->by_ops(dy, grads); });
}

template <class T>
void GraphRun<T>::add(const Node<T>& input, const Tensor<T>& g) {
    check(g.shape() == input.shape, "gradients: the gradient of '{}' must have the shape of its value, got {} for {}",
          input.op, g.shape(), input.shape);
    Tensor<T>& sum = recorded_[&input];
    if (!sum.defined()) {
        sum = g;
        return;
    }
    Array<T> total = sum.value().clone();
    add_into(total, g.value());
    sum = record("add", std::move(total), inputs(sum, g), [](const auto& dy, Gradients<T>& grads) {
        grads.add(0, dy);
        grads.add(1, dy);
    });
}

template <class T>
Tensor<T> GraphRun<T>::gradient(const NodePtr<T>& target) const {
    if (records()) {
        const auto found = recorded_.find(target.get());
        return found == recorded_.end() ? Tensor<T>() : found->second;
    }
    const Node<T>& own = *accumulators_.at(target.get());
    return own.has_grad ? Tensor<T>(own.grad) : Tensor<T>();
}

template <class T>
void check_cotangent(const char* what, const Tensor<T>& y, const ConstArray<T>& dy) {
    check_defined(what, y);
    check(y.requires_grad(), "{}: the tensor does not depend on anything that requires a gradient", what);
    check(dy.defined() || y.size() == 1, "{}: expected a cotangent for a value that is not a scalar, got shape {}",
          what, y.shape());
    check(!dy.defined() || dy.shape() == y.shape(), "{}: the cotangent must have the value's shape, got {} for {}",
          what, dy.shape(), y.shape());
}

template void check_cotangent(const char*, const Tensor<float>&, const ConstArray<float>&);
template void check_cotangent(const char*, const Tensor<double>&, const ConstArray<double>&);
template class GraphRun<float>;
template class GraphRun<double>;

}  // namespace inkling

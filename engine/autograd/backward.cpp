#include "engine/autograd/backward.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/autograd/grad_notice.h"

namespace inkling {
namespace {

// All nodes that `root` depends on, outputs first: nodes are numbered as they are made, so that order is a topological
// order. Of leaves, only those that somebody watches, each behind the last node that adds to its gradient.
template <class T>
std::vector<NodePtr<T>> nodes_from(const NodePtr<T>& root) {
    static std::atomic<std::uint64_t> walks = 0;
    const std::uint64_t walk = ++walks;
    std::vector<NodePtr<T>> found{root};
    std::vector<std::pair<std::uint64_t, NodePtr<T>>> leaves;  // with the order of that node
    root->visited = walk;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Node<T>& node = *found[i];
        check(!node.ran,
              "backward: the graph behind '{}' was already run and released; keep it with backward(y, dy, Graph::keep)",
              node.op);
        for (std::size_t k = 0; k < found[i]->inputs.size(); ++k) {
            const NodePtr<T>& input = found[i]->inputs[k];
            if (!input) continue;
            if (input->is_leaf()) {  // other threads may visit leaves, too
                if (!input->watch) continue;
                const auto known =
                    std::find_if(leaves.begin(), leaves.end(), [&](const auto& leaf) { return leaf.second == input; });
                if (known == leaves.end()) {
                    leaves.emplace_back(found[i]->order, input);
                } else {
                    known->first = std::min(known->first, found[i]->order);
                }
                continue;
            }
            if (input->visited == walk) continue;
            input->visited = walk;
            found.push_back(input);
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->order > b->order; });
    if (leaves.empty()) return found;
    std::stable_sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<NodePtr<T>> all;
    auto leaf = leaves.begin();
    for (NodePtr<T>& node : found) {
        const std::uint64_t order = node->order;
        all.push_back(std::move(node));
        for (; leaf != leaves.end() && leaf->first == order; ++leaf) all.push_back(std::move(leaf->second));
    }
    return all;
}

template <class T>
void accumulate(Node<T>& node, Array<T> g) {
    check(g.shape() == node.shape, "backward: the gradient of '{}' must have the shape of its value, got {} for {}",
          node.op, g.shape(), node.shape);
    if (!node.has_grad) {
        if (!node.keep_place) {
            node.grad = std::move(g);
        } else {
            copy_into(node.grad, g);
        }
        node.has_grad = true;
    } else if (node.keep_place || !node.grad.shares_buffer()) {
        add_into(node.grad, g);
    } else {  // another node holds the same buffer: adding in place would change its gradient too
        Array<T> sum = node.grad.clone();
        add_into(sum, g);
        node.grad = std::move(sum);
    }
}

// While it lives, this thread alone writes to the gradient of a leaf. It waits for the one that does now.
template <class T>
struct SoleWriter {
    explicit SoleWriter(Node<T>& leaf) : node(leaf) {
        const void* none = nullptr;
        while (!node.writer.compare_exchange_weak(none, this, std::memory_order_acquire)) {
            none = nullptr;
            std::this_thread::yield();
        }
    }
    ~SoleWriter() { node.writer.store(nullptr, std::memory_order_release); }
    Node<T>& node;
};

// Hands a complete gradient to those who watch the node. They may write to it, so nothing else may hold its memory.
template <class T>
void hand_out(Node<T>& node, Array<T>& dy) {
    Watch<T>& watch = *node.watch;
    for (const auto& hook : watch.hooks) {
        if (dy.shares_buffer()) dy = dy.clone();
        hook(dy);
        check(dy.shape() == node.shape, "on_grad: the gradient of '{}' must keep its shape {}, got {}", node.op,
              node.shape, dy.shape());
    }
    if (!watch.retain) return;
    Array<T> sum = dy.clone();
    if (watch.retained.defined()) add_into(sum, watch.retained);
    watch.retained = std::move(sum);
}

// The same for a leaf, to which other threads may add.
template <class T>
void hand_out_leaf(Node<T>& leaf) {
    const SoleWriter<T> writer(leaf);
    const auto& hooks = leaf.watch->hooks;
    if (!leaf.has_grad || hooks.empty()) return;
    const auto is_notice = [](const auto& hook) { return hook.template target<GradNotice<T>>() != nullptr; };
    if (std::all_of(hooks.begin(), hooks.end(), is_notice)) {
        for (const auto& hook : hooks) hook(leaf.grad);
        return;
    }
    Array<T> dy = leaf.grad.clone();
    hand_out(leaf, dy);
    if (leaf.keep_place) {
        copy_into(leaf.grad, dy);
    } else {
        leaf.grad = dy;
    }
}

// Intermediate gradients are freed after backward, even when it throws.
template <class T>
struct ForgetGradients {
    std::vector<NodePtr<T>>& nodes;
    ~ForgetGradients() {
        for (const auto& node : nodes) {
            if (node && !node->is_leaf()) node->has_grad = false, node->grad = Array<T>();
        }
    }
};

}  // namespace

template <class T>
bool Gradients<T>::take(Node<T>& input) {
    const void* none = nullptr;
    return !input.is_leaf() || input.writer.load(std::memory_order_relaxed) == this ||
           input.writer.compare_exchange_strong(none, this, std::memory_order_acquire);
}

template <class T>
void Gradients<T>::release() {
    for (const NodePtr<T>& input : node_.inputs) {
        if (input && input->writer.load(std::memory_order_relaxed) == this)
            input->writer.store(nullptr, std::memory_order_release);
    }
}

template <class T>
void Gradients<T>::add(std::size_t i, Array<T> g) {
    if (!wanted(i)) return;
    Node<T>& input = *node_.inputs[i];
    if (take(input)) {
        accumulate(input, std::move(g));
    } else {
        waiting_.emplace_back(&input, std::move(g));
    }
}

template <class T>
Node<T>& Gradients<T>::wanted_input(std::size_t i) {
    check(wanted(i), "{}: its backward writes a gradient of input {}, which wants none", node_.op, i);
    return *node_.inputs[i];
}

template <class T>
Array<T> Gradients<T>::empty(std::size_t i) {
    return new_gradient(wanted_input(i));
}

template <class T>
typename Gradients<T>::Target Gradients<T>::target(std::size_t i) {
    Node<T>& input = wanted_input(i);
    if (!take(input)) {
        waiting_.emplace_back(&input, Array<T>(input.shape));
        return {waiting_.back().second, false};
    }
    if (!input.has_grad) {
        if (!input.keep_place) input.grad = new_gradient(input);
        input.has_grad = true;
        return {input.grad, false};
    }
    if (!input.keep_place && input.grad.shares_buffer()) input.grad = input.grad.clone();
    return {input.grad, true};
}

template <class T>
void Gradients<T>::write(std::size_t i, FunctionRef<void(Array<T>& array, bool accumulate)> body) {
    auto [place, accumulate] = target(i);
    if (place.is_contiguous()) return body(place, accumulate);
    Array<T> dense(place.shape());
    body(dense, false);
    accumulate ? add_into(place, dense) : copy_into(place, dense);
}

template <class T>
void Gradients<T>::finish() {
    release();  // first: a thread that waits for a leaf must hold none
    for (auto& [input, g] : waiting_) {
        const SoleWriter<T> writer(*input);
        accumulate(*input, std::move(g));
    }
    waiting_.clear();
}

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& dy, Graph after) {
    check_defined("backward", y);
    check(y.requires_grad(), "backward: the tensor does not depend on anything that requires a gradient");
    check(dy.defined() || y.size() == 1,
          "backward: a cotangent is required for a value that is not a scalar, got shape {}", y.shape());
    check(!dy.defined() || dy.shape() == y.shape(),
          "backward: the cotangent must have the value's shape, got {} for {}", dy.shape(), y.shape());
    std::vector<NodePtr<T>> nodes = nodes_from(y.node());
    const ForgetGradients<T> forget{nodes};
    const bool detecting = DetectAnomaly::active();
    {
        const SoleWriter<T> writer(*y.node());  // it may be a leaf itself
        accumulate(*y.node(), dy.defined() ? dy.clone() : Array<T>(y.shape(), T{1}));
    }
    for (NodePtr<T>& node : nodes) {
        if (node->is_leaf()) {
            if (node->watch) hand_out_leaf(*node);
            continue;
        }
        if (node->has_grad) {
            Array<T> g = std::move(node->grad);
            node->has_grad = false;
            if (node->watch) hand_out(*node, g);
            Gradients<T> grads(*node);
            const double largest = detecting ? largest_magnitude<T>(g) : 0;
            try {
                node->backward(g, grads);
                grads.finish();
                if (detecting) detect::check_gradients(*node, largest);
                profile::lap(node->op, true);
            } catch (const ModifiedInPlace& value) {
                throw Error(
                    fmt::format("{}: a value that its backward needs, of shape {}, was written to in place after "
                                "it was saved: write to a clone instead",
                                node->op, value.shape));
            }
        }
        if (after == Graph::release) {
            node->recompute = nullptr;
            if (!node->reusable) {
                node->ran = true;
                node->backward = nullptr;
                node->make_grad = nullptr;
                node->inputs.clear();
            }
            node.reset();
        }
    }
}

template class Gradients<float>;
template class Gradients<double>;
template void backward(const Tensor<float>&, const ConstArray<float>&, Graph);
template void backward(const Tensor<double>&, const ConstArray<double>&, Graph);

}  // namespace inkling

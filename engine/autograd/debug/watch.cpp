#include "engine/autograd/debug/watch.h"

#include "engine/base/both_types.h"
#include "engine/base/scoped_value.h"

namespace inkling {

namespace {

// A copy, because hooks and other threads may add requests meanwhile.
template <class T>
Watch<T> requests_of(Node<T>& node) {
    const std::scoped_lock lock(node.mutex);
    return *node.watch.load();
}

template <class T>
void check_hooked(const Node<T>& node, const Array<T>& dy) {
    check(dy.shape() == node.shape, "on_grad: the gradient of '{}' must keep its shape {}, got {}", node.op, node.shape,
          dy.shape());
}

}  // namespace

// Hooks may write to dy, so nothing else may hold its memory.
template <class T>
void hand_out(Node<T>& node, Array<T>& dy) {
    const Watch<T> requests = requests_of(node);
    for (const auto& hook : requests.hooks) {
        if (dy.shares_buffer()) dy = dy.clone();
        hook(dy);
        check_hooked(node, dy);
    }
    for (const auto& ready : requests.notices) ready();
    if (!requests.retain) return;
    Array<T> sum = dy.clone();
    const std::scoped_lock lock(node.mutex);
    Array<T>& retained = node.watch.load()->retained;
    if (retained.defined()) add_into(sum, retained);
    retained = std::move(sum);
}

template <class T>
void hand_out_leaf(Node<T>& leaf) {
    const Watch<T> requests = requests_of(leaf);
    const std::scoped_lock lock(leaf.mutex);
    if (!leaf.has_grad) return;
    const ScopedValue in_hooks(leaf.leaf.in_hooks, true);
    for (const auto& hook : requests.hooks) {
        Array<T> dy = leaf.grad.clone();
        hook(dy);
        check_hooked(leaf, dy);
        if (!leaf.has_grad) continue;  // the hook zeroed it
        if (leaf.leaf.keep_place) {
            copy_into(leaf.grad, dy);
        } else {
            leaf.grad = dy;
        }
    }
    for (const auto& ready : requests.notices) ready();
}

template <class T>
bool has_hooks(Node<T>& node) {
    return node.watch && !requests_of(node).hooks.empty();
}

template <class T>
void refuse_in_hooks(Node<T>& leaf) {
    const std::unique_lock lock(leaf.mutex, std::try_to_lock);
    check(!lock || !leaf.leaf.in_hooks,
          "backward: a hook of a leaf runs backward through that leaf, whose gradient it is about to change: run it "
          "after backward, or take gradients(), which add to no leaf");
}

template <class T>
void WatchedLeaves<T>::add(const Node<T>& node) {
    for (const auto& input : node.inputs)
        if (input && input->is_leaf() && input->watch && ++open_[input.get()] == 1) refuse_in_hooks(*input);
}

template <class T>
void WatchedLeaves<T>::done(const Node<T>& node) {
    if (open_.empty()) return;
    for (const auto& input : node.inputs) {
        const auto leaf = open_.find(input.get());
        if (leaf != open_.end() && --leaf->second == 0) hand_out_leaf(*input);
    }
}

INKLING_BOTH_TYPES(hand_out<T>, hand_out_leaf<T>, has_hooks<T>, refuse_in_hooks<T>);
template class WatchedLeaves<float>;
template class WatchedLeaves<double>;

}  // namespace inkling

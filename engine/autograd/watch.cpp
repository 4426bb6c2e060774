#include "engine/autograd/watch.h"

#include "engine/autograd/leaf_lock.h"

namespace inkling {

// Hooks may write to dy, so nothing else may hold its memory.
template <class T>
void hand_out(Node<T>& node, Array<T>& dy) {
    Watch<T>& watch = *node.watch;
    for (const auto& hook : watch.hooks) {
        if (dy.shares_buffer()) dy = dy.clone();
        hook(dy);
        check(dy.shape() == node.shape, "on_grad: the gradient of '{}' must keep its shape {}, got {}", node.op,
              node.shape, dy.shape());
    }
    for (const auto& ready : watch.notices) ready();
    if (!watch.retain) return;
    Array<T> sum = dy.clone();
    if (watch.retained.defined()) add_into(sum, watch.retained);
    watch.retained = std::move(sum);
}

template <class T>
void hand_out_leaf(Node<T>& leaf) {
    const SoleWriter<T> writer(leaf);
    if (!leaf.has_grad) return;
    for (const auto& hook : leaf.watch->hooks) {
        Array<T> dy = leaf.grad.clone();
        hook(dy);
        check(dy.shape() == leaf.shape, "on_grad: the gradient of '{}' must keep its shape {}, got {}", leaf.op,
              leaf.shape, dy.shape());
        if (leaf.leaf.keep_place) {
            copy_into(leaf.grad, dy);
        } else {
            leaf.grad = dy;
        }
    }
    for (const auto& ready : leaf.watch->notices) ready();
}

template <class T>
WatchedLeaves<T>::WatchedLeaves(const std::vector<NodePtr<T>>& nodes) {
    for (const auto& node : nodes) {
        for (const auto& input : node->inputs)
            if (input && input->is_leaf() && input->watch) ++open_[input.get()];
    }
}

template <class T>
void WatchedLeaves<T>::done(const Node<T>& node) {
    if (open_.empty()) return;
    for (const auto& input : node.inputs) {
        const auto leaf = open_.find(input.get());
        if (leaf != open_.end() && --leaf->second == 0) hand_out_leaf(*input);
    }
}

#define INKLING_INSTANTIATE(T)                   \
    template void hand_out(Node<T>&, Array<T>&); \
    template void hand_out_leaf(Node<T>&);       \
    template class WatchedLeaves<T>;
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling

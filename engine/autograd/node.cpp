#include "engine/autograd/node.h"

#include "engine/autograd/debug/watch.h"

namespace inkling {

template <class T>
Node<T>::Node(const char* op_name, Shape value_shape) : op(op_name), shape(std::move(value_shape)) {
    static std::atomic<std::uint64_t> count = 0;
    order = ++count;
}

// Recursion would use a stack frame for each node. A list links the nodes instead: a destructor must not allocate.
template <class T>
Node<T>::~Node() {
    delete watch.load();
    NodePtr<T> doomed;
    const auto take = [&doomed](std::vector<NodePtr<T>>& from) {
        for (NodePtr<T>& input : from) {
            if (input && input.use_count() == 1) {
                const NodePtr<T> acquired = input;  // use_count() does not wait for what other threads did
                input->next_doomed = std::move(doomed);
                doomed = std::move(input);
            }
            input.reset();
        }
    };
    take(inputs);
    while (doomed) {
        const NodePtr<T> node = std::move(doomed);
        doomed = std::move(node->next_doomed);
        take(node->inputs);
    }
}

template <class T>
void add_gradient(Node<T>& node, Array<T> g) {
    check(g.shape() == node.shape,
          "backward: the gradient of '{}' must have the shape of its value, got "
          "{} for {}",
          node.op, g.shape(), node.shape);
    if (!node.has_grad) {
        if (!node.leaf.keep_place) {
            node.grad = std::move(g);
        } else {
            copy_into(node.grad, g);
        }
        node.has_grad = true;
    } else if (node.leaf.keep_place || !node.grad.shares_buffer()) {
        add_into(node.grad, g);
    } else {  // another node holds the same buffer: adding in place would change its gradient, too
        Array<T> sum = node.grad.clone();
        add_into(sum, g);
        node.grad = std::move(sum);
    }
}

template struct Node<float>;
template struct Node<double>;
template void add_gradient(Node<float>&, Array<float>);
template void add_gradient(Node<double>&, Array<double>);

}  // namespace inkling

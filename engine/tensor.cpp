#include "engine/tensor.h"

#include <atomic>

#include "engine/backward.h"

namespace inkling {

template <class T>
Node<T>::Node(const char* op_name, Shape value_shape) : op(op_name), shape(std::move(value_shape)) {
    static std::atomic<std::uint64_t> count = 0;
    order = ++count;
}

// Destroying inputs one inside the other would use one stack frame a node; here a list, linked through the nodes
// themselves because a destructor may not ask for memory, takes their place.
template <class T>
Node<T>::~Node() {
    NodePtr<T> doomed;
    const auto take = [&doomed](std::vector<NodePtr<T>>& from) {
        for (NodePtr<T>& input : from) {
            if (input && input.use_count() == 1) {
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
Tensor<T>::Tensor(ConstArray<T> value, bool requires_grad) : value_(std::move(value)) {
    if (requires_grad) node_ = std::make_shared<Node<T>>("leaf", value_.shape());
}

template <class T>
Array<T> Tensor<T>::value_in_place() {
    check_defined("value_in_place", *this);
    Array<T> value = Array<T>::writable(value_);
    value.count_write();
    return value;
}

template <class T>
T Tensor<T>::item() const {
    check_defined("item", *this);
    check(size() == 1, "item: exactly one element is required, got shape {}", shape());
    return *value_.data();
}

template <class T>
Array<T> Tensor<T>::grad() const {
    check(requires_grad(), "grad: no gradient was asked for; make the tensor with requires_grad = true");
    return node_->has_grad ? node_->grad : Array<T>(shape(), T{0});
}

template <class T>
void Tensor<T>::zero_grad() {
    if (!node_) return;
    node_->has_grad = false;
    if (!node_->keep_place) node_->grad = Array<T>();
}

template <class T>
void Tensor<T>::bind(Array<T> value, Array<T> grad) {
    check(value.shape() == shape() && grad.shape() == shape(), "bind: shapes must be equal, got {}, {} and {}", shape(),
          value.shape(), grad.shape());
    check(requires_grad() && node_->is_leaf(), "bind: only a parameter has a place of its own");
    copy_into(value, value_);
    value_ = std::move(value);
    if (node_->has_grad) copy_into(grad, node_->grad);
    node_->grad = std::move(grad);
    node_->keep_place = true;
}

template <class T>
const ConstArray<T>& Saved<T>::get() const {
    if (array_.version() != version_) throw Overwritten(array_.shape());
    return array_;
}

int& NoGrad::depth() {
    thread_local int depth = 0;
    return depth;
}

template struct Node<float>;
template struct Node<double>;
template class Tensor<float>;
template class Tensor<double>;
template class Saved<float>;
template class Saved<double>;
template class Saved<std::int32_t>;

}  // namespace inkling

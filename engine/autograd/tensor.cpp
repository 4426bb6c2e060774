#include "engine/autograd/tensor.h"

#include "engine/autograd/backward.h"
#include "engine/autograd/debug/watch.h"

namespace inkling {

template <class T>
Tensor<T>::Tensor() = default;
template <class T>
Tensor<T>::Tensor(ConstArray<T> value, NodePtr<T> node) : value_(std::move(value)), node_(std::move(node)) {}
template <class T>
Tensor<T>::Tensor(const Tensor&) = default;
template <class T>
Tensor<T>::Tensor(Tensor&&) noexcept = default;
template <class T>
Tensor<T>::~Tensor() = default;
template <class T>
Tensor<T>& Tensor<T>::operator=(const Tensor&) = default;
template <class T>
Tensor<T>& Tensor<T>::operator=(Tensor&&) noexcept = default;

template <class T>
Tensor<T>::Tensor(ConstArray<T> value, bool requires_grad) : value_(std::move(value)) {
    if (requires_grad) node_ = std::make_shared<Node<T>>("leaf", value_.shape());
}

template <class T>
Tensor<T> Tensor<T>::detach() const {
    Tensor same = *this;
    same.node_ = nullptr;
    return same;
}

template <class T>
Array<T> Tensor<T>::array() const {
    for (std::size_t i = 0; i < rank(); ++i)
        if (dim(i) > 1 && value().strides()[i] == 0) return value().clone();
    return Array<T>::writable([this] { return value(); });
}

template <class T>
Array<T> Tensor<T>::value_in_place() {
    check_defined("value_in_place", *this);
    for (std::size_t i = 0; i < rank(); ++i) {
        check(size() == 0 || dim(i) == 1 || value().strides()[i] != 0,
              "value_in_place: the elements along axis {} of shape {} are one place in memory, as expand() copies "
              "nothing: write to what was expanded, or to a copy, value().clone()",
              i, shape());
    }
    Array<T> value = Array<T>::writable([this] { return this->value(); });
    value.count_write();
    return value;
}

template <class T>
T Tensor<T>::item() const {
    check_defined("item", *this);
    check(size() == 1, "item: expected exactly one element, got shape {}", shape());
    return *value_.data();
}

template <class T>
Array<T> Tensor<T>::grad() const {
    const Array<T> kept = grad_if_any();
    return kept.defined() ? kept : Array<T>(shape(), T{0});
}

template <class T>
Array<T> Tensor<T>::grad_if_any() const {
    check(requires_grad(), "grad: no gradient was asked for; make the tensor with requires_grad = true");
    const std::scoped_lock lock(node_->mutex);
    if (node_->is_leaf()) return node_->has_grad ? node_->grad : Array<T>();
    const Watch<T>* const watch = node_->watch;
    check(watch && watch->retain,
          "grad: the gradient of an intermediate, here of '{}', is not kept: call retain_grad() before backward",
          node_->op);
    return watch->retained;
}

template <class T>
void Tensor<T>::backward(const ConstArray<T>& dy, Graph after) const {
    inkling::backward(*this, dy, after);
}

template <class T>
void Tensor<T>::request(const char* what, FunctionRef<void(Watch<T>&)> add) const {
    check(requires_grad(), "{}: the tensor does not depend on anything that requires a gradient", what);
    const std::scoped_lock lock(node_->mutex);
    if (!node_->watch) node_->watch = new Watch<T>;
    add(*node_->watch.load());
}

template <class T>
void Tensor<T>::retain_grad() const {
    if (node_ && node_->is_leaf()) return;
    request("retain_grad", [](Watch<T>& all) { all.retain = true; });
}

template <class T>
void Tensor<T>::on_grad(std::function<void(Array<T>& dy)> f) const {
    request("on_grad", [&](Watch<T>& all) { all.hooks.push_back(std::move(f)); });
}

template <class T>
void Tensor<T>::on_grad_ready(std::function<void()> f) const {
    request("on_grad_ready", [&](Watch<T>& all) { all.notices.push_back(std::move(f)); });
}

template <class T>
void Tensor<T>::zero_grad() {
    if (!node_) return;
    const std::scoped_lock lock(node_->mutex);
    if (Watch<T>* const watch = node_->watch) watch->retained = Array<T>();
    if (!node_->is_leaf()) return;
    node_->has_grad = false;
    if (!node_->leaf.keep_place) node_->grad = Array<T>();
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
    node_->leaf.keep_place = true;
}

int& NoGrad::depth() {
    thread_local int depth = 0;
    return depth;
}

template class Tensor<float>;
template class Tensor<double>;
}  // namespace inkling

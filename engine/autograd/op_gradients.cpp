#include "engine/autograd/op_gradients.h"

#include <algorithm>

#include "engine/autograd/run.h"

namespace inkling {

template <class T>
bool Gradients<T>::wanted(std::size_t i) const {
    check(i < node_->inputs.size(), "{}: its backward names input {}, but it has {}", node_->op, i,
          node_->inputs.size());
    return node_->inputs[i] != nullptr && run_.wants(*node_->inputs[i]);
}

template <class T>
void Gradients<T>::add(std::size_t i, const Tensor<T>& g) {
    if (!wanted(i)) return;
    run_.records() ? run_.add(*node_->inputs[i], g) : add(i, g.array());
}

// Other threads may add to a leaf at the same time. A thread that waits for a leaf holds none.
template <class T>
void Gradients<T>::lock(Node<T>& sum) {
    if (!sum.is_leaf() || leaf_.mutex() == &sum.mutex) return;
    leaf_ = {};
    leaf_ = std::unique_lock(sum.mutex);
}

template <class T>
void Gradients<T>::add(std::size_t i, Array<T> g) {
    if (!wanted(i)) return;
    Node<T>& sum = run_.accumulator(*node_->inputs[i]);
    lock(sum);
    add_gradient(sum, std::move(g));
}

template <class T>
Node<T>& Gradients<T>::wanted_sum(std::size_t i) {
    check(wanted(i), "{}: its backward writes a gradient of input {}, which wants none", node_->op, i);
    return run_.accumulator(*node_->inputs[i]);
}

template <class T>
Array<T> Gradients<T>::empty(std::size_t i) {
    return new_gradient(wanted_sum(i));
}

template <class T>
void Gradients<T>::accumulate_into(std::size_t i, FunctionRef<void(Array<T>&, bool)> body, SumLayout layout) {
    const auto laid_out = [&](Array<T> place, bool accumulate) {
        if (layout == SumLayout::any || place.is_contiguous()) return body(place, accumulate);
        Array<T> dense(place.shape());
        body(dense, false);
        accumulate ? add_into(place, dense) : copy_into(place, dense);
    };
    Node<T>& sum = wanted_sum(i);
    lock(sum);
    const bool keep_place = sum.leaf.keep_place, accumulate = sum.has_grad;
    if (!accumulate && !keep_place) sum.grad = new_gradient(sum);
    if (accumulate && !keep_place && sum.grad.shares_buffer()) sum.grad = sum.grad.clone();
    sum.has_grad = true;
    laid_out(sum.grad, accumulate);
}

template <class T>
Tensor<T> Gradients<T>::in(std::size_t i, const ConstArray<T>& saved) const {
    return Tensor<T>(saved, run_.records() || wanted(i) ? node_->inputs[i] : nullptr);
}

template <class T>
Tensor<T> Gradients<T>::out(const ConstArray<T>& saved) const {
    return Tensor<T>(saved, node_);
}

template <class T>
void Gradients<T>::add_through(const Tensor<T>& dy, FunctionRef<Tensor<T>()> twin) {
    const EnableGrad scope;
    const Tensor<T> y = twin();
    if (!y.requires_grad()) return;
    std::vector<NodePtr<T>> targets;
    std::vector<std::size_t> input_of;  // the first input that each target is
    for (std::size_t i = 0; i < node_->inputs.size(); ++i) {
        const bool again = std::find(targets.begin(), targets.end(), node_->inputs[i]) != targets.end();
        if (wanted(i) && !again) targets.push_back(node_->inputs[i]), input_of.push_back(i);
    }
    GraphRun<T> through("gradients", y.node(), run_.records() ? Into::tensors : Into::arrays, targets, AtTargets::stop);
    through.propagate(dy, Graph::release);
    for (std::size_t k = 0; k < targets.size(); ++k) {
        const Tensor<T> g = through.gradient(targets[k]);
        if (g.defined()) add(input_of[k], g);
    }
}

template <class T>
const Node<T>* Gradients<T>::sum_of(std::size_t i) const {
    return node_->inputs[i] && !run_.records() ? &run_.accumulator(*node_->inputs[i]) : nullptr;
}

template class Gradients<float>;
template class Gradients<double>;

}  // namespace inkling

// Declarations of an op about its output y, after record(), and questions about its inputs:
//   can_recompute(y, [saved] { return gelu(*saved); });     // then linear(y, w) need not save y:
//   const auto again = recomputation(x);                    // in linear; null if x must be saved
#pragma once

#include "engine/autograd/tensor.h"

namespace inkling {

// The least size in bytes of a value that is recomputed rather than saved; smaller values stay in cache.
inline constexpr std::size_t kWorthRecomputing = std::size_t{2} << 20;

// The declarations of the op that made y.
template <class T>
typename Node<T>::Output& declare(const Tensor<T>& y) {
    std::unique_ptr<typename Node<T>::Output>& output = y.node()->output;
    if (!output) output = std::make_unique<typename Node<T>::Output>();
    return *output;
}

// f recomputes y cheaply, from values that the op saves anyway. It is kept only if y is large.
template <class T, class F>
void can_recompute(const Tensor<T>& y, const F& f) {
    if (y.requires_grad() && y.size() * sizeof(T) >= kWorthRecomputing) declare(y).recompute = f;
}

// A function that recomputes x; null if the op that made x cannot.
template <class T>
std::function<ConstArray<T>()> recomputation(const Tensor<T>& x) {
    if (!x.requires_grad() || !x.node()->output) return nullptr;
    const std::scoped_lock lock(x.node()->mutex);  // another thread may release the graph
    return x.node()->output->recompute;
}

// The backward of y saves no values, so it may run again after the graph was released.
template <class T>
Tensor<T> saves_nothing(Tensor<T> y) {
    if (y.requires_grad()) declare(y).saves_nothing = true;
    return y;
}

// A new uninitialised array in the layout that `node` wants for its gradient.
template <class T>
Array<T> new_gradient(Node<T>& node) {
    Node<T>* base = &node;
    std::vector<const Node<T>*> views;
    for (; base->output && base->output->view; base = base->inputs[0].get()) views.push_back(base);
    const bool own = base->output && base->output->make_grad;
    Array<T> g = own ? base->output->make_grad(*base) : Array<T>(base->shape);
    for (auto view = views.rbegin(); view != views.rend(); ++view) g = (*view)->output->view(g);
    return g;
}

// make() returns the uninitialised array for y's gradient, where a new contiguous one would have to be copied.
template <class T, class F>
void set_gradient_layout(const Tensor<T>& y, const F& make) {
    if (y.requires_grad()) declare(y).make_grad = [make](Node<T>&) { return make(); };
}

// y is view(x): its gradient has x's layout, so that undoing the view copies nothing; y can be recomputed if x can.
template <class T, class View>
void is_view(const Tensor<T>& y, const Tensor<T>& x, const View& view) {
    if (!y.requires_grad()) return;
    declare(y).view = view;
    if (const auto again = recomputation(x)) declare(y).recompute = [view, again] { return view(again()); };
}

}  // namespace inkling

#include "engine/autograd/backward.h"

namespace inkling {

template <class T>
void Gradients<T>::add(std::size_t i, Array<T> g) {
    refuse_graph();
    if (!wanted(i)) return;
    Node<T>& input = *node_.inputs[i];
    if (leaves_.take(input)) {
        add_gradient(input, std::move(g));
    } else {
        leaves_.add_later(input, std::move(g));
    }
}

template <class T>
Node<T>& Gradients<T>::wanted_input(std::size_t i) {
    refuse_graph();
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
    if (!leaves_.take(input)) return {leaves_.add_later(input, Array<T>(input.shape)), false};
    const bool keep_place = input.leaf.keep_place;
    if (!input.has_grad) {
        if (!keep_place) input.grad = new_gradient(input);
        input.has_grad = true;
        return {input.grad, false};
    }
    if (!keep_place && input.grad.shares_buffer()) input.grad = input.grad.clone();
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

#define INKLING_INSTANTIATE(T)                                                \
    template void Gradients<T>::add(std::size_t, Array<T>);                   \
    template Node<T>& Gradients<T>::wanted_input(std::size_t);                \
    template Array<T> Gradients<T>::empty(std::size_t);                       \
    template typename Gradients<T>::Target Gradients<T>::target(std::size_t); \
    template void Gradients<T>::write(std::size_t, FunctionRef<void(Array<T>&, bool)>);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling

// Runs the chain rule over the graph behind a tensor.
//   backward(loss);                      // d loss / d leaf is added to every leaf's grad()
//   backward(y, dy);                     // with a cotangent of y's shape
// Each node's saved values are freed as soon as they were used, unless the graph is kept for another run.
#pragma once

#include "engine/tensor.h"

namespace inkling {

enum class Graph { release, keep };

template <class T>
void backward(const Tensor<T>& y, const Array<T>& dy = {}, Graph after = Graph::release);

// What an op's backward writes to: one gradient per input, in the order given to record().
template <class T>
class Gradients {
  public:
    explicit Gradients(Node<T>& node) : node_(node) {}

    // Is a gradient wanted for input i? When not, computing it would be wasted.
    bool wanted(std::size_t i) const { return node_.inputs[i] != nullptr; }

    // dL/dinput_i += g. The first contribution is taken over: g must not be written to afterwards.
    void add(std::size_t i, Array<T> g);

    // For an op that writes its gradient itself: fill `array` when `accumulate` is false, add to it when true.
    struct Target {
        Array<T> array;
        bool accumulate;
    };
    Target target(std::size_t i);

    // The same for an op that needs an array without gaps: write(array, accumulate).
    template <class Write>
    void write(std::size_t i, const Write& write) {
        auto [place, accumulate] = target(i);
        if (place.is_contiguous()) return write(place, accumulate);
        Array<T> dense(place.shape());
        write(dense, false);
        accumulate ? add_into(place, dense) : copy_into(place, dense);
    }

    Node<T>& input(std::size_t i) { return *node_.inputs[i]; }  // for views that share their input's gradient

  private:
    Node<T>& node_;
};

// A saved value was written to in place; backward() adds the op's name.
struct Overwritten {
    explicit Overwritten(Shape value_shape) : shape(std::move(value_shape)) {}
    Shape shape;
};

// A new array, not initialised, in the layout in which `node` would have its gradient.
template <class T>
Array<T> new_gradient(Node<T>& node) {
    return node.make_grad ? node.make_grad(node) : Array<T>(node.shape);
}

}  // namespace inkling

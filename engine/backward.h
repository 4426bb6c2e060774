// Runs the chain rule over the graph behind a tensor.
//   backward(loss);                      // d loss / d leaf is added to every leaf's grad()
//   backward(y, dy);                     // with a cotangent of y's shape
// Each node's saved values are freed as soon as they were used, unless the graph is kept for another run. Ops of shape
// save none, so that parts of one split, say, may run one after the other. Threads may run at the same time, each
// through a graph of its own; leaves may be shared, and what reaches them adds up, in the order in which the threads
// come.
#pragma once

#include "engine/tensor.h"

namespace inkling {

enum class Graph { release, keep };

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& dy = {}, Graph after = Graph::release);

// What an op's backward writes to: one gradient per input, in the order given to record().
template <class T>
class Gradients {
  public:
    explicit Gradients(Node<T>& node) : node_(node) {}

    // Is a gradient wanted for input i? When not, computing it would be wasted.
    bool wanted(std::size_t i) const {
        check(i < node_.inputs.size(), "{}: its backward names input {}, but it has {}", node_.op, i,
              node_.inputs.size());
        return node_.inputs[i] != nullptr;
    }

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

    void finish();  // what had to wait for another thread is added; for backward() alone

  private:
    bool take(Node<T>& input);  // false: another thread writes to this leaf now

    Node<T>& node_;
    std::vector<std::unique_lock<std::mutex>> taken_;  // leaves, until the op is done
    std::vector<std::pair<Node<T>*, Array<T>>> waiting_;
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

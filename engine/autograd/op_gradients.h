// The gradients that an op's closure writes: one per input, in the order given to record().
//
// The first form of a closure, (const Tensor<T>& dy, Gradients<T>& grads), is made of ops. It serves for gradients of
// any order: it takes saved values as in(i, ...) and out(...), tensors of the graph, and hands over tensors by add().
//   [y = Saved(y)](const Tensor<T>& dy, Gradients<T>& grads) { grads.add(0, dy * grads.out(*y)); }
// The second, (const Array<T>& dy, Gradients<T>& grads), computes arrays, for speed. dy may have any strides. It may
//   - read dy while it runs; keep a handle to it only by passing it on, dy itself or a view, to add()
//   - overwrite its elements where dy.can_overwrite(), and pass that memory on to add() once
// A closure leaves out inputs that are not wanted(), and calls exactly one of the functions for each other input. It
// runs once for each run of the graph, on the thread that called backward(). It may run backward through a graph of its
// own (nn/checkpoint.h) before it adds its first gradient: from then on it holds the lock of a leaf.
#pragma once

#include "engine/autograd/output.h"
#include "engine/autograd/record.h"
#include "engine/base/function_ref.h"

namespace inkling {

template <class T>
class GraphRun;

enum class SumLayout { dense, any };

template <class T>
class Gradients {
  public:
    Gradients(const NodePtr<T>& node, GraphRun<T>& run) : node_(node), run_(run) {}

    // Whether input i wants a gradient. If not, computing it is wasted.
    bool wanted(std::size_t i) const;

    // dL/dinput_i += g. Takes over the first contribution without a copy, so do not write to g afterwards. Does nothing
    // if input i wants no gradient.
    void add(std::size_t i, const Tensor<T>& g);
    void add(std::size_t i, Array<T> g);

    // Calls body(sum, accumulate) with the gradient's own memory: fill `sum` if `accumulate` is false, else add to it.
    // `sum` is contiguous, unless SumLayout::any allows other strides. Input i must be wanted.
    void accumulate_into(std::size_t i, FunctionRef<void(Array<T>& sum, bool accumulate)> body,
                         SumLayout layout = SumLayout::dense);

    // An uninitialised array of input i's shape, to fill and hand to add(). If the input is a view, it is the same view
    // of a new array, so that nothing is copied on the way back. Input i must be wanted.
    Array<T> empty(std::size_t i);

    // Input i and the output, as tensors of the graph; `saved` is the value that the op saved.
    Tensor<T> in(std::size_t i, const ConstArray<T>& saved) const;
    Tensor<T> out(const ConstArray<T>& saved) const;

    // Adds the gradients of all inputs through twin(), which computes the output again from in(0, ...), in(1, ...) by
    // other ops.
    void add_through(const Tensor<T>& dy, FunctionRef<Tensor<T>()> twin);

    // The node of input i, for split(), whose pieces write their gradients into one array.
    Node<T>& input(std::size_t i) { return *node_->inputs[i]; }

    const Node<T>* sum_of(std::size_t i) const;  // the node with the sum of input i's gradient, or null

  private:
    Node<T>& wanted_sum(std::size_t i);
    void lock(Node<T>& sum);

    const NodePtr<T>& node_;
    GraphRun<T>& run_;
    std::unique_lock<std::recursive_mutex> leaf_;  // the last leaf that was added to, until the op is done
};

// Thrown when a saved value has been modified in place; the run adds the op's name.
struct ModifiedInPlace {
    explicit ModifiedInPlace(Shape value_shape) : shape(std::move(value_shape)) {}
    Shape shape;
};

}  // namespace inkling

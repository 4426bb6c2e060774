// Runs the chain rule over the graph behind a tensor.
//   backward(loss);                      // d loss / d leaf is added to every leaf's grad(); or loss.backward()
//   backward(y, dy);                     // with a cotangent of y's shape
// Backward frees each node's saved values as soon as it has used them, unless the graph is kept for another run. Ops
// that only change the shape save none, so a graph may run backward from several parts of one split, one after the
// other. Threads may run backward at the same time, each through its own graph; a run through nodes that another run
// has throws. They may share leaves: a leaf's gradient sums the contributions of all threads in the order of their
// arrival.
#pragma once

#include "engine/autograd/leaf_lock.h"
#include "engine/autograd/output.h"
#include "engine/autograd/tensor.h"
#include "engine/base/function_ref.h"

namespace inkling {

template <class T>
struct Recorder;

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& dy = {}, Graph after = Graph::release);

// The gradients that an op's backward writes: one per input, in the order given to record().
//
// backward(dy, grads) gets dy = dL/dy, of the output's shape and of any strides. It may
//   - read dy while it runs; keep a handle to it only by passing it on, dy itself or a view, to add()
//   - overwrite its elements where dy.can_overwrite(), and pass that memory on to add() once
//   - leave out inputs that are not wanted(); for each other input it calls exactly one of the following
// It runs once for each run of the graph, on the thread that called backward(). It may run backward through a graph of
// its own (nn/checkpoint.h) before it writes its first gradient: from then on it may hold locks of leaves.
template <class T>
class Gradients {
  public:
    explicit Gradients(Node<T>& node, Recorder<T>* recorder = nullptr)
        : node_(node), recorder_(recorder), leaves_(node) {}

    // Whether input i wants a gradient. If not, computing it is wasted.
    bool wanted(std::size_t i) const {
        check(i < node_.inputs.size(), "{}: its backward names input {}, but it has {}", node_.op, i,
              node_.inputs.size());
        return node_.inputs[i] != nullptr && (!recorder_ || recorder_wants(i));
    }

    // dL/dinput_i += g. Takes over the first contribution without a copy, so do not write to g afterwards. Does nothing
    // if input i wants no gradient.
    void add(std::size_t i, Array<T> g);

    // An uninitialised array of input i's shape, to fill and hand to add(). Its strides are those that the input's
    // gradient wants, so that undoing a view copies nothing. Input i must be wanted.
    Array<T> empty(std::size_t i);

    // The gradient itself, with any strides, for an op that can add to it: fill `array` if `accumulate` is false, else
    // add to it. Input i must be wanted.
    struct Target {
        Array<T> array;
        bool accumulate;
    };
    Target target(std::size_t i);

    // The same for an op that needs a contiguous array: calls body(array, accumulate).
    void write(std::size_t i, FunctionRef<void(Array<T>& array, bool accumulate)> body);

    // The node of input i, for view ops whose outputs' gradients are views of their input's (split).
    Node<T>& input(std::size_t i) { return *node_.inputs[i]; }

    // If the gradients must have a graph (gradients.h), an op computes them with ops and returns:
    //   if (grads.recorded()) return grads.add(0, grads.dy() * grads.out(*y));
    // Without this line the op cannot be differentiated twice: the functions above throw and name it.
    bool recorded() const { return recorder_ != nullptr; }
    const Tensor<T>& dy() const;
    // Input i and the output, as tensors of the graph; `saved` is the value that the op saved.
    Tensor<T> in(std::size_t i, const ConstArray<T>& saved) const;
    Tensor<T> out(const ConstArray<T>& saved) const;
    void add(std::size_t i, const Tensor<T>& g);
    // The gradients of all inputs through `twin`: the output, computed again from in(0, ...), in(1, ...) by other ops.
    void add_through(const Tensor<T>& twin);
    void refuse_graph() const;  // throws if recorded(): for a backward that does more than compute arrays

    void finish() { leaves_.finish(); }  // only for backward()

  private:
    bool recorder_wants(std::size_t i) const;
    Node<T>& wanted_input(std::size_t i);

    Node<T>& node_;
    Recorder<T>* const recorder_;  // null: gradients are arrays
    LeafLocks<T> leaves_;
};

// Thrown when a saved value has been modified in place; backward() adds the op's name.
struct ModifiedInPlace {
    explicit ModifiedInPlace(Shape value_shape) : shape(std::move(value_shape)) {}
    Shape shape;
};

}  // namespace inkling

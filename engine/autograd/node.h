// A node of the graph: the op that made a value, and the sum of the value's gradient. Users see Tensor; ops see
// Gradients (op_gradients.h) and the functions of output.h. Neither touches nodes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/array/array.h"

namespace inkling {

template <class T>
struct Node;
template <class T>
using NodePtr = std::shared_ptr<Node<T>>;
template <class T>
class Gradients;
template <class T>
class Tensor;
template <class T>
struct Watch;

// The gradient of an op: given dy, the gradient of the output, it adds those of the inputs. record() makes it from the
// op's closure, which has one of the two forms, or both.
template <class T>
class OpGradient {
  public:
    virtual ~OpGradient() = default;
    virtual void by_ops(const Tensor<T>& dy, Gradients<T>& grads) const = 0;    // it has a gradient itself
    virtual void by_arrays(const Array<T>& dy, Gradients<T>& grads) const = 0;  // fast
    bool has_ops = false, has_arrays = false;                                   // the forms that it has
};

template <class T>
struct Node {
    Node(const char* op_name, Shape value_shape);
    ~Node();  // without recursion, for chains of any length
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    bool is_leaf() const { return !recorded; }

    const char* op;
    std::uint64_t order;                            // in order of creation: inputs come before outputs
    Shape shape;                                    // of the value and the gradient
    std::vector<NodePtr<T>> inputs;                 // null for an input that wants no gradient
    std::unique_ptr<const OpGradient<T>> gradient;  // null for a leaf
    bool recorded = false;                          // an op made the value; false: a leaf
    bool released = false;                          // backward has run, and its saved values are gone

    Array<T> grad;          // dL/dvalue so far, when has_grad
    bool has_grad = false;  // the first contribution is taken over, not added to zeros

    // Shared between threads: claim.h
    std::atomic<int> runs = 0;   // how many runs only read the node; -1 while one changes it
    std::recursive_mutex mutex;  // guards the gradient of a leaf
    struct {
        bool keep_place = false;  // a parameter: its gradient lies in the model's flat buffer
        bool in_hooks = false;    // its hooks are running, on the thread that holds the mutex
    } leaf;
    struct Output {                                     // declarations of the op about its output (output.h)
        std::function<ConstArray<T>()> recompute;       // computes the value again
        std::function<Array<T>(Node&)> make_grad;       // makes the array for the gradient, in a layout of its own
        std::function<Array<T>(const Array<T>&)> view;  // the value is this view of input 0's, and so is the gradient
        bool saves_nothing = false;                     // so backward may run again after the graph was released
        bool partial = false;                           // several nodes fill in parts of the gradient
    };
    std::unique_ptr<Output> output;          // null for most ops: a node is small
    std::atomic<Watch<T>*> watch = nullptr;  // requests for the gradient (watch.h), or null; owned
    NodePtr<T> next_doomed;                  // while a graph is destroyed
};

// node.grad += g, which must not be written to afterwards.
template <class T>
void add_gradient(Node<T>& node, Array<T> g);

extern template struct Node<float>;
extern template struct Node<double>;

}  // namespace inkling

// One run over a graph: the chain rule, for backward() and for gradients().
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "engine/autograd/op_gradients.h"
#include "engine/autograd/walk.h"

namespace inkling {

// Where a run sums gradients: in every leaf that it reaches; or only those of `targets`, as arrays, or as tensors with
// a graph of their own.
enum class Into { leaves, arrays, tensors };

// Whether the gradient of a target flows on to other targets that it depends on.
enum class AtTargets { flow_on, stop };

template <class T>
class GraphRun {
  public:
    GraphRun(const char* what, const NodePtr<T>& root, Into into, const std::vector<NodePtr<T>>& targets = {},
             AtTargets at_targets = AtTargets::flow_on);

    // Takes the nodes in order, from the root, whose gradient is dy.
    void propagate(Tensor<T> dy, Graph after);
    // The gradient of a target; undefined if the root does not depend on it.
    Tensor<T> gradient(const NodePtr<T>& target) const;

    // For Gradients
    bool records() const { return into_ == Into::tensors; }
    bool wants(const Node<T>& input) const { return into_ == Into::leaves || wanted_.contains(&input); }
    // The node that sums the gradients of an input: the input itself, except for targets.
    Node<T>& accumulator(Node<T>& input) const {
        if (accumulators_.empty()) return input;
        const auto own = accumulators_.find(&input);
        return own == accumulators_.end() ? input : *own->second;
    }
    void add(const Node<T>& input, const Tensor<T>& g);  // only if this run records

  private:
    bool leads_on(const Node<T>& node) const;
    void step(const NodePtr<T>& node);
    void by_arrays(const NodePtr<T>& node, Array<T> dy);
    void by_ops(const NodePtr<T>& node);

    const NodePtr<T> root_;
    const Into into_;
    std::vector<Claim<T>> nodes_;                                  // in order, from the root
    std::unordered_set<const Node<T>*> wanted_;                    // the targets, and the nodes that lead to them
    std::unordered_map<const Node<T>*, NodePtr<T>> accumulators_;  // of targets, whose own gradients stay as they are
    std::unordered_map<const Node<T>*, Tensor<T>> recorded_;       // the gradients with a graph
};

// Throws unless y wants a gradient and dy has its shape, or is undefined where y is a single number.
template <class T>
void check_cotangent(const char* what, const Tensor<T>& y, const ConstArray<T>& dy);

extern template class GraphRun<float>;
extern template class GraphRun<double>;

}  // namespace inkling

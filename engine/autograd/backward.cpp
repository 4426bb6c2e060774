#include "engine/autograd/backward.h"

#include <algorithm>

#include "engine/autograd/gradients.h"
#include "engine/autograd/run.h"
#include "engine/autograd/watch.h"

namespace inkling {
namespace {

template <class T>
void release(Node<T>& node) {
    std::function<ConstArray<T>()> recompute;  // destroyed without the lock
    if (node.output.recompute) {
        const SoleWriter<T> writer(node);
        recompute.swap(node.output.recompute);
    }
    if (node.output.saves_nothing) return;
    node.released = true;
    node.backward = nullptr;
    node.output.make_grad = nullptr;
    node.inputs.clear();
}

template <class T>
void check_cotangent(const char* what, const Tensor<T>& y, const ConstArray<T>& dy) {
    check_defined(what, y);
    check(y.requires_grad(), "{}: the tensor does not depend on anything that requires a gradient", what);
    check(dy.defined() || y.size() == 1, "{}: a cotangent is required for a value that is not a scalar, got shape {}",
          what, y.shape());
    check(!dy.defined() || dy.shape() == y.shape(), "{}: the cotangent must have the value's shape, got {} for {}",
          what, dy.shape(), y.shape());
}

// During its lifetime, own nodes replace `ends` in the graph and collect their gradients in a run of backward. Inputs
// that do not lead to `ends` are left out.
template <class T>
class Detour {
  public:
    Detour(const Between<T>& graph, const std::vector<NodePtr<T>>& ends) {
        for (const NodePtr<T>& end : ends) {
            NodePtr<T>& place = places_[end.get()];
            if (!place) place = std::make_shared<Node<T>>("gradients", end->shape);
        }
        for (const NodePtr<T>& node : graph.walk.nodes) {
            inputs_.emplace_back(node, node->inputs);
            for (NodePtr<T>& input : node->inputs) {
                if (!input) continue;
                const NodePtr<T> place = at(*input);
                if (place || !graph.wanted.contains(input.get())) input = place;
            }
        }
    }
    ~Detour() {
        for (auto& [node, own] : inputs_)
            if (!node->released) node->inputs = std::move(own);
    }
    Detour(const Detour&) = delete;
    Detour& operator=(const Detour&) = delete;

    NodePtr<T> at(const Node<T>& node) const {  // null: no gradient is requested
        const auto found = places_.find(&node);
        return found == places_.end() ? nullptr : found->second;
    }

  private:
    std::unordered_map<const Node<T>*, NodePtr<T>> places_;
    std::vector<std::pair<NodePtr<T>, std::vector<NodePtr<T>>>> inputs_;  // the original inputs
};

template <class T>
std::vector<Tensor<T>> plain_gradients(const NodePtr<T>& root, Array<T> dy, const std::vector<NodePtr<T>>& ends,
                                       Graph after) {
    Between<T> graph(root, ends, Access::change);
    const Detour<T> detour(graph, ends);
    const NodePtr<T> first = detour.at(*root);
    add_gradient(first ? *first : *root, std::move(dy));
    for (NodePtr<T>& node : graph.walk.nodes) {
        if (std::count(node->inputs.begin(), node->inputs.end(), nullptr) == std::ssize(node->inputs)) continue;
        if (const NodePtr<T> end = detour.at(*node); end && end->has_grad) add_gradient(*node, end->grad);
        if (node->has_grad) {
            Array<T> g = std::move(node->grad);
            node->has_grad = false;
            if (node->watch) hand_out(*node, g);
            run(*node, g);
        }
        if (after == Graph::release) release(*node);
    }
    std::vector<Tensor<T>> found;
    for (const NodePtr<T>& end : ends) {
        const NodePtr<T> place = detour.at(*end);
        found.push_back(place->has_grad ? Tensor<T>(place->grad) : Tensor<T>());
    }
    return found;
}

}  // namespace

template <class T>
std::vector<Tensor<T>> gradients(const Tensor<T>& y, const std::vector<Tensor<std::type_identity_t<T>>>& x,
                                 const GradientOptions<std::type_identity_t<T>>& options) {
    check_cotangent("gradients", y, options.dy.value());
    std::vector<NodePtr<T>> ends;
    for (const Tensor<T>& input : x) {
        check(input.requires_grad(), "gradients: input {} of {} requires no gradient", ends.size(), x.size());
        ends.push_back(input.node());
    }
    const Tensor<T> dy = options.dy.defined() ? options.dy : Tensor<T>::ones(y.shape());
    std::vector<Tensor<T>> found;
    if (options.create_graph) {
        check(!NoGrad::active(),
              "gradients: create_graph is asked for in the scope of a NoGrad: use an EnableGrad there");
        found = recorded_gradients(y.node(), dy, ends, Ends::flow_on);
    } else {
        found = plain_gradients(y.node(), dy.value().clone(), ends, options.keep_graph ? Graph::keep : Graph::release);
    }
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!found[i].defined()) found[i] = Tensor<T>::zeros(x[i].shape());
    return found;
}

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& dy, Graph after) {
    check_cotangent("backward", y, dy);
    const auto start = [&] { add_gradient(*y.node(), dy.defined() ? dy.clone() : Array<T>(y.shape(), T{1})); };
    if (y.node()->is_leaf()) {
        refuse_in_hooks(y.node().get());
        {
            const SoleWriter<T> writer(*y.node());
            start();
        }
        if (y.node()->watch) hand_out_leaf(*y.node());
        return;
    }
    Walk<T> walk("backward", y.node(), Access::change);
    WatchedLeaves<T> leaves(walk.nodes);
    start();
    for (NodePtr<T>& node : walk.nodes) {
        if (node->has_grad) {
            Array<T> g = std::move(node->grad);
            node->has_grad = false;
            if (node->watch) hand_out(*node, g);
            run(*node, g);
        }
        leaves.done(*node);
        if (after == Graph::release) {
            release(*node);
            walk.leave(node);
        }
    }
}

#define INKLING_INSTANTIATE(T)                                                                 \
    template void backward(const Tensor<T>&, const ConstArray<T>&, Graph);                     \
    template std::vector<Tensor<T>> gradients(const Tensor<T>&, const std::vector<Tensor<T>>&, \
                                              const GradientOptions<T>&);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling

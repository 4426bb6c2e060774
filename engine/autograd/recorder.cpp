#include "engine/autograd/recorder.h"

#include <algorithm>

#include "engine/autograd/run.h"
#include "engine/autograd/watch.h"

namespace inkling {

template <class T>
bool Gradients<T>::recorder_wants(std::size_t i) const {
    return recorder_->wanted.contains(node_.inputs[i].get());
}

template <class T>
const Tensor<T>& Gradients<T>::dy() const {
    return recorder_->dy;
}

template <class T>
Tensor<T> Gradients<T>::in(std::size_t i, const ConstArray<T>& saved) const {
    return Tensor<T>(saved, node_.inputs[i]);
}

template <class T>
Tensor<T> Gradients<T>::out(const ConstArray<T>& saved) const {
    return Tensor<T>(saved, recorder_->node);
}

template <class T>
void Gradients<T>::add(std::size_t i, const Tensor<T>& g) {
    if (wanted(i)) recorder_->add(*node_.inputs[i], g);
}

template <class T>
void Gradients<T>::add_through(const Tensor<T>& twin) {
    if (!twin.requires_grad()) return;
    std::vector<NodePtr<T>> ends;
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
        const bool again = std::find(ends.begin(), ends.end(), node_.inputs[i]) != ends.end();
        if (wanted(i) && !again) ends.push_back(node_.inputs[i]);
    }
    const std::vector<Tensor<T>> found = recorded_gradients(twin.node(), dy(), ends, Ends::stop);
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (found[i].defined()) recorder_->add(*ends[i], found[i]);
}

template <class T>
void Gradients<T>::refuse_graph() const {
    check(
        !recorder_,
        "gradients: '{}' cannot be differentiated twice: its backward computes arrays, which have no graph. Write the "
        "part with other ops, or ask for gradients without create_graph",
        node_.op);
}

template <class T>
void Recorder<T>::add(const Node<T>& to, const Tensor<T>& g) {
    check(g.shape() == to.shape, "gradients: the gradient of '{}' must have the shape of its value, got {} for {}",
          to.op, g.shape(), to.shape);
    Tensor<T>& sum = sums[&to];
    if (!sum.defined()) {
        sum = g;
        return;
    }
    Array<T> total = sum.value().clone();
    add_into(total, g.value());
    sum = record("add", std::move(total), inputs(sum, g), [](const Array<T>& d, Gradients<T>& grads) {
        for (const std::size_t i : {0, 1}) grads.recorded() ? grads.add(i, grads.dy()) : grads.add(i, d);
    });
}

template <class T>
std::vector<Tensor<T>> recorded_gradients(const NodePtr<T>& root, const Tensor<T>& dy,
                                          const std::vector<NodePtr<T>>& ends, Ends at_ends) {
    const Between<T> graph(root, ends, Access::read);
    Recorder<T> recorder{graph.wanted};
    recorder.add(*root, dy);
    for (const NodePtr<T>& node : graph.walk.nodes) {
        if (at_ends == Ends::stop && std::find(ends.begin(), ends.end(), node) != ends.end()) continue;
        const auto sum = recorder.sums.find(node.get());
        if (sum == recorder.sums.end() || !graph.leads_on(*node)) continue;
        check(!has_hooks(*node),
              "gradients: '{}' has a hook of on_grad(), which writes to an array: it leaves no graph", node->op);
        recorder.node = node;
        recorder.dy = sum->second;
        // shares the memory, for an op that reads dy before it reports that it has no second derivative
        const ConstArray<T>& dy_value = recorder.dy.value();
        const auto array = Array<T>::over(const_cast<T*>(dy_value.data()), dy_value.shape(), dy_value.strides(),
                                          std::make_shared<ConstArray<T>>(dy_value));
        run(*node, array, &recorder);
    }
    std::vector<Tensor<T>> found;
    for (const NodePtr<T>& end : ends) {
        const auto sum = recorder.sums.find(end.get());
        found.push_back(sum == recorder.sums.end() ? Tensor<T>() : sum->second);
    }
    return found;
}

#define INKLING_INSTANTIATE(T)                                                              \
    template struct Recorder<T>;                                                            \
    template bool Gradients<T>::recorder_wants(std::size_t) const;                          \
    template const Tensor<T>& Gradients<T>::dy() const;                                     \
    template Tensor<T> Gradients<T>::in(std::size_t, const ConstArray<T>&) const;           \
    template Tensor<T> Gradients<T>::out(const ConstArray<T>&) const;                       \
    template void Gradients<T>::add(std::size_t, const Tensor<T>&);                         \
    template void Gradients<T>::add_through(const Tensor<T>&);                              \
    template void Gradients<T>::refuse_graph() const;                                       \
    template std::vector<Tensor<T>> recorded_gradients(const NodePtr<T>&, const Tensor<T>&, \
                                                       const std::vector<NodePtr<T>>&, Ends);
INKLING_INSTANTIATE(float)
INKLING_INSTANTIATE(double)
#undef INKLING_INSTANTIATE

}  // namespace inkling

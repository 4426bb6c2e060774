#include "engine/autograd/backward.h"

#include "engine/autograd/debug/watch.h"
#include "engine/autograd/run.h"

namespace inkling {

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& given, Graph after) {
    check_cotangent("backward", y, given);
    Array<T> dy = given.defined() ? given.clone() : Array<T>(y.shape(), T{1});
    Node<T>& node = *y.node();
    if (!node.is_leaf())
        return GraphRun<T>("backward", y.node(), Into::leaves).propagate(Tensor<T>(std::move(dy)), after);
    refuse_in_hooks(node);
    {
        const std::scoped_lock lock(node.mutex);
        add_gradient(node, std::move(dy));
    }
    if (node.watch) hand_out_leaf(node);
}

template void backward(const Tensor<float>&, const ConstArray<float>&, Graph);
template void backward(const Tensor<double>&, const ConstArray<double>&, Graph);

}  // namespace inkling

#include "engine/autograd/record.h"

#include "engine/autograd/op_gradients.h"
#include "engine/base/profile.h"

namespace inkling {

template <class T>
const ConstArray<T>& Saved<T>::get() const {
    if (array_.version() != version_) throw ModifiedInPlace(array_.shape());
    return array_;
}

template <class T>
Tensor<T> record_op(const char* op, ConstArray<T>&& value, OpInputs<T>&& in,
                    std::unique_ptr<const OpGradient<T>> gradient) {
    profile::lap(op);
    auto node = gradient ? std::make_shared<Node<T>>(op, value.shape()) : nullptr;
    if (DetectAnomaly::active()) detect::check_value(op, value, node.get(), in.seen);
    if (!node) return Tensor<T>(std::move(value));
    node->recorded = true;
    node->inputs = std::move(in.nodes);
    node->gradient = std::move(gradient);
    return Tensor<T>(std::move(value), std::move(node));
}

template class Saved<float>;
template class Saved<double>;
template class Saved<std::int32_t>;
template Tensor<float> record_op(const char*, ConstArray<float>&&, OpInputs<float>&&,
                                 std::unique_ptr<const OpGradient<float>>);
template Tensor<double> record_op(const char*, ConstArray<double>&&, OpInputs<double>&&,
                                  std::unique_ptr<const OpGradient<double>>);

}  // namespace inkling

#include "nn/sequential.h"

#include "engine/autograd/debug/anomaly.h"

namespace inkling::nn {

template <class T>
Tensor<T> Sequential<T>::forward(const Tensor<T>& x, Generator* random) const {
    Tensor<T> y = x;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Region region("step", i);
        y = steps_[i].forward(y, random);
    }
    return y;
}

template <class T>
void Sequential<T>::visit(const Visitor<T>& v) {
    for (std::size_t i = 0; i < steps_.size(); ++i) v(std::to_string(i), *steps_[i].module);
}

template <class T>
void Sequential<T>::add_step(Forward forward, std::unique_ptr<Module<T>> module) {
    steps_.push_back({std::move(forward), std::move(module)});
}

template class Sequential<float>;
template class Sequential<double>;

}  // namespace inkling::nn

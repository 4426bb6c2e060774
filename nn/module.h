// Module: something with parameters, listed once, by visit(), under the names that files use.
//   struct Block : Module<float> {
//       Linear<float> up, down;
//       void visit(const Visitor<float>& v) override { v("up", up); v("down", down); }
//   };
//   for (auto& [name, p] : block.parameters()) ...   // "up.weight", "up.bias", "down.weight", ...
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace inkling::nn {

template <class T>
class Module;

template <class T>
class Visitor {
  public:
    std::function<void(const std::string& name, Tensor<T>& parameter)> on_parameter;
    std::function<void(Module<T>& module)> on_module;
    std::string prefix;

    // An undefined tensor, such as the bias of a layer made without one, is passed over.
    void operator()(const std::string& name, Tensor<T>& parameter) const {
        if (parameter.defined() && on_parameter) on_parameter(prefix + name, parameter);
    }
    void operator()(const std::string& name, Module<T>& child) const;
};

template <class T>
class Module {
  public:
    virtual ~Module() = default;
    virtual void visit(const Visitor<T>& visitor) = 0;

    std::vector<std::pair<std::string, Tensor<T>>> parameters();
    std::size_t parameter_count();

    // Dropout drops in training mode alone. New modules are in training mode.
    void train(bool on = true);
    void eval() { train(false); }
    bool training() const { return training_; }

    void zero_grad();

  private:
    bool training_ = true;
};

template <class T>
void Visitor<T>::operator()(const std::string& name, Module<T>& child) const {
    if (on_module) on_module(child);
    child.visit({on_parameter, on_module, prefix + name + "."});
}

extern template class Module<float>;
extern template class Module<double>;

}  // namespace inkling::nn

// Module: parameters and submodules, listed once in visit() under the names used in files.
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

#include "engine/weights/weight.h"

namespace inkling::nn {

template <class T>
class Module;

// The role of a parameter: optimizers treat each differently.
enum class Role {
    embedding,  // a table of token or position vectors, also as a tied head
    head,       // an untied output head
    matrix,     // maps activations to activations
    vector,     // gains, biases, scalars
};
struct ParameterKind {
    Role role;
    std::size_t stacked = 1;    // maps stacked in the rows of a matrix: 3 for a packed query, key and value
    std::size_t head_size = 0;  // rows per attention head; 0: rows are not grouped by head
};

template <class T>
class Visitor {
  public:
    std::function<void(const std::string& name, Tensor<T>& parameter, const ParameterKind& kind)> on_parameter =
        nullptr;
    std::function<void(const std::string& name, Module<T>& module)> on_module = nullptr;
    std::string prefix = "";
    std::function<void(const std::string& name)> on_buffer = nullptr;
    // Each parameter too, as it is stored: packed ones have no tensor.
    std::function<void(const std::string& name, const Weight<T>& parameter)> on_weight = nullptr;

    // Skips an undefined tensor, such as the bias of a layer without one.
    void operator()(const std::string& name, Tensor<T>& parameter, const ParameterKind& kind) const {
        if (!parameter.defined()) return;
        if (on_weight) on_weight(prefix + name, parameter);
        if (on_parameter) on_parameter(prefix + name, parameter, kind);
    }
    void operator()(const std::string& name, Weight<T>& parameter, const ParameterKind& kind) const {
        if (parameter.packed() && on_weight) on_weight(prefix + name, parameter);
        operator()(name, parameter.tensor(), kind);
    }
    void operator()(const std::string& name, Tensor<T>& parameter) const {
        operator()(name, parameter, {parameter.rank() < 2 ? Role::vector : Role::matrix});
    }
    void operator()(const std::string& name, Module<T>& child) const;
    void buffer(const std::string& name) const {
        if (on_buffer) on_buffer(prefix + name);
    }
};

template <class T>
class Module {
  public:
    Module() = default;
    Module(const Module&) = delete;  // a copy would share its parameters: construct another and copy their values
    Module& operator=(const Module&) = delete;
    Module(Module&&) = default;
    Module& operator=(Module&&) = default;
    virtual ~Module() = default;
    virtual void visit(const Visitor<T>& visitor) = 0;

    std::vector<std::pair<std::string, Tensor<T>>> parameters();  // without packed ones
    std::vector<std::string> buffers();  // names that PyTorch's module also has in its state dict
    std::size_t parameter_count();       // elements of all parameters, frozen or not
    // A tree of modules and parameters with types, shapes and counts. Identical numbered siblings are shown once.
    std::string to_string();

    // Dropout is active only in training mode, the mode of a new module.
    void train(bool on = true);
    void eval() { train(false); }
    bool training() const { return training_; }

    void zero_grad();

    // Freezes the parameters that `which` selects, by default all: they have no gradient, and backward, flat buffers
    // and optimizers skip them.
    void freeze(const std::function<bool(const std::string& name)>& which = nullptr);

  private:
    bool training_ = true;
};

template <class T>
void Visitor<T>::operator()(const std::string& name, Module<T>& child) const {
    if (on_module) on_module(prefix + name, child);
    Visitor inner = *this;
    inner.prefix += name + ".";
    child.visit(inner);
}

extern template class Module<float>;
extern template class Module<double>;

}  // namespace inkling::nn

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

#include "engine/autograd/tensor.h"

namespace inkling::nn {

template <class T>
class Module;

// What a parameter is for: optimizers have rates and ways of their own for each.
enum class Role {
    embedding,  // a table that ids look rows up in, or that adds a row to each position; a tied head is one too
    head,       // a head of its own
    matrix,     // from activations to activations
    vector,     // gains, biases, scalars
};
struct ParameterKind {
    Role role;
    std::size_t stacked = 1;    // maps stacked in a matrix's rows: 3 where one makes query, key and value
    std::size_t head_size = 0;  // rows of a head, where a matrix's rows are those of heads; 0: they are not
};

template <class T>
class Visitor {
  public:
    std::function<void(const std::string& name, Tensor<T>& parameter, const ParameterKind& kind)> on_parameter =
        nullptr;
    std::function<void(const std::string& name, Module<T>& module)> on_module = nullptr;
    std::string prefix = "";
    std::function<void(const std::string& name)> on_buffer = nullptr;

    // An undefined tensor, such as the bias of a layer made without one, is passed over.
    void operator()(const std::string& name, Tensor<T>& parameter, const ParameterKind& kind) const {
        if (parameter.defined() && on_parameter) on_parameter(prefix + name, parameter, kind);
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
    Module(const Module&) = delete;  // a copy would share its parameters: make another, and copy their values
    Module& operator=(const Module&) = delete;
    Module(Module&&) = default;
    Module& operator=(Module&&) = default;
    virtual ~Module() = default;
    virtual void visit(const Visitor<T>& visitor) = 0;

    std::vector<std::pair<std::string, Tensor<T>>> parameters();
    std::vector<std::string>
    buffers();                      // what else the same module of PyTorch keeps in a state dict, and this does not
    std::size_t parameter_count();  // the numbers in all of them, frozen or not
    // A tree of modules and parameters, with types, shapes and counts. Neighbours that are numbered and alike are shown
    // once.
    std::string to_string();

    // Dropout drops in training mode alone. New modules are in training mode.
    void train(bool on = true);
    void eval() { train(false); }
    bool training() const { return training_; }

    void zero_grad();

    // Frozen parameters (those that `which` names, or all) have no gradient: backward does not reach them, flat buffers
    // and optimizers leave them out. They may then be packed, too (engine/autograd/packed_matrix.h).
    void freeze(const std::function<bool(const std::string& name)>& which = nullptr);

  private:
    bool training_ = true;
};

template <class T>
void Visitor<T>::operator()(const std::string& name, Module<T>& child) const {
    if (on_module) on_module(prefix + name, child);
    child.visit(
        {.on_parameter = on_parameter, .on_module = on_module, .prefix = prefix + name + ".", .on_buffer = on_buffer});
}

extern template class Module<float>;
extern template class Module<double>;

}  // namespace inkling::nn

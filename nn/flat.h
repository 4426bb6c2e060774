// FlatParameters: all parameters of a module that are trained in one buffer, and all their gradients in another, so
// that optimizer, clipping and checkpoints are single passes. Frozen ones stay where they are. Matrices come first,
// then vectors (which weight decay leaves alone), each in the order of visit(), each starting on a 64-byte boundary;
// the gaps are zero in both buffers and stay so.
#pragma once

#include "nn/module.h"

namespace inkling::nn {

template <class T>
class FlatParameters {
  public:
    struct Entry {
        std::string name;
        Tensor<T> parameter;
        std::size_t offset;  // in elements
        ParameterKind kind;
    };

    FlatParameters() = default;
    explicit FlatParameters(Module<T>& module);  // moves the parameters there

    Array<T>& values() { return values_; }
    // Fills in zeros where backward reached a parameter by no path, so that the whole buffer may be read.
    Array<T>& gradients();
    void zero_gradients();  // costs nothing: the next contribution is written, not added

    std::size_t matrix_elements() const { return matrix_elements_; }  // values()[0 .. this) are matrices
    const std::vector<Entry>& entries() const { return entries_; }
    const std::vector<Tensor<T>>& frozen() const { return frozen_; }

  private:
    std::vector<Entry> entries_;
    std::vector<Tensor<T>> frozen_;
    std::size_t matrix_elements_ = 0;
    Array<T> values_, gradients_;
};

extern template class FlatParameters<float>;
extern template class FlatParameters<double>;

}  // namespace inkling::nn

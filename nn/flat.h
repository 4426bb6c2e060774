// FlatParameters: all trained parameters of a module in one buffer, and their gradients in another, so that optimizer,
// clipping and checkpoints are single passes. Frozen parameters stay where they are. Matrices come first, then vectors
// (which weight decay skips), in the order of visit(). Each starts on a 64-byte boundary; the gaps stay zero.
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
    explicit FlatParameters(Module<T>& module);  // moves the parameters into the buffer

    Array<T>& values() { return values_; }
    // Zeros the gradients that backward did not reach since zero_gradients(), so that the whole buffer is valid.
    Array<T>& gradients();
    bool is_reached(std::size_t entry) const { return entries_[entry].parameter.node()->has_grad; }
    void zero_gradients();  // O(1): the next contribution overwrites

    std::size_t matrix_elements() const { return matrix_elements_; }  // values()[0 .. this) are matrices
    const std::vector<Entry>& entries() const { return entries_; }
    const std::vector<Weight<T>>& frozen() const { return frozen_; }

  private:
    std::vector<Entry> entries_;
    std::vector<Weight<T>> frozen_;
    std::size_t matrix_elements_ = 0;
    Array<T> values_, gradients_;
};

extern template class FlatParameters<float>;
extern template class FlatParameters<double>;

}  // namespace inkling::nn

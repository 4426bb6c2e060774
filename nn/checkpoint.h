// Activation checkpointing (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost): keeps only
// the input and output of f; backward runs f again. This costs a second forward pass and saves the memory of the ops
// inside.
//   Tensor<T> y = checkpoint<T>([&](const Tensor<T>& x, Generator* random) { return block.forward(x, random); }, x,
//                               &random);
#pragma once

#include <functional>

#include "engine/autograd/tensor.h"
#include "engine/base/random.h"

namespace inkling::nn {

// f must depend only on x, parameters and the generator; it sees the same random numbers both times. Backward of f is a
// run of its own: hooks of the parameters in f are called at its end, and again if the graph outside uses them, too.
template <class T>
Tensor<T> checkpoint(const std::function<Tensor<T>(const Tensor<T>& x, Generator* random)>& f, const Tensor<T>& x,
                     Generator* random = nullptr);

}  // namespace inkling::nn

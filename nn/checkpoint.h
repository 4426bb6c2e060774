// Activation checkpointing (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost): nothing of f is kept but
// its input and output; backward runs f once more. Costs a second forward pass, saves what the ops inside would have
// kept.
//   Tensor<T> y = checkpoint<T>([&](const Tensor<T>& x, Generator* random) { return block.forward(x, random); }, x,
//                               &random);
#pragma once

#include <functional>

#include "engine/autograd/tensor.h"
#include "engine/base/random.h"

namespace inkling::nn {

// f must depend on x, on parameters and on the generator alone; it sees the same random numbers both times.
template <class T>
Tensor<T> checkpoint(const std::function<Tensor<T>(const Tensor<T>& x, Generator* random)>& f, const Tensor<T>& x,
                     Generator* random = nullptr);

}  // namespace inkling::nn

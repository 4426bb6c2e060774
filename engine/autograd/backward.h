// Runs the chain rule over the graph behind a tensor.
//   backward(loss);                      // d loss / d leaf is added to every leaf's grad(); or loss.backward()
//   backward(y, dy);                     // with a cotangent of y's shape
// Backward frees each node's saved values as soon as it has used them, unless the graph is kept for another run. Ops
// that only change the shape save none, so a graph may run backward from several parts of one split, one after the
// other. Threads may run backward at the same time, each through its own graph; a run through nodes that another run
// has throws. They may share leaves: a leaf's gradient sums the contributions of all threads in the order of their
// arrival.
#pragma once

#include "engine/autograd/op_gradients.h"

namespace inkling {

template <class T>
void backward(const Tensor<T>& y, const ConstArray<std::type_identity_t<T>>& dy = {}, Graph after = Graph::release);

}  // namespace inkling

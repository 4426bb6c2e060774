// Draws the graph behind a tensor in Graphviz's language, as micrograd does: ellipses are leaves, boxes are values made
// by ops, each with its shape.
//   std::ofstream("graph.dot") << to_dot(loss, model.parameters());   // then: dot -Tsvg graph.dot > graph.svg
// Values that want no gradient are not part of the graph. Backward releases the graph, so draw it before backward.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

// `names` labels any tensors of the graph: {{"a", a}, {"b", b}}.
template <class T>
std::string to_dot(const Tensor<T>& y, const std::vector<std::pair<std::string, Tensor<T>>>& names = {});

}  // namespace inkling

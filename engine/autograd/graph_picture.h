// A picture of the graph behind a tensor, in Graphviz's language, as micrograd draws: ellipses are leaves, boxes are
// the values that ops made, each with its shape.
//   std::ofstream("graph.dot") << to_dot(loss, model.parameters());   // then: dot -Tsvg graph.dot > graph.svg
// What wants no gradient is not part of the graph, and backward releases it: draw it before.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/autograd/tensor.h"

namespace inkling {

// The names are those of any tensors of the graph, {{"a", a}, {"b", b}}.
template <class T>
std::string to_dot(const Tensor<T>& y, const std::vector<std::pair<std::string, Tensor<T>>>& names = {});

}  // namespace inkling

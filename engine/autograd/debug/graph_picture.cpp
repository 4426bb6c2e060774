#include "engine/autograd/debug/graph_picture.h"

#include <map>
#include <unordered_map>

#include "engine/autograd/walk.h"

namespace inkling {
template <class T>
std::string to_dot(const Tensor<T>& y, const std::vector<std::pair<std::string, Tensor<T>>>& names) {
    check(y.requires_grad(), "to_dot: the tensor does not depend on anything that requires a gradient");
    std::unordered_map<const Node<T>*, std::string> name_of;
    for (const auto& [name, tensor] : names) name_of.emplace(tensor.node().get(), name);

    const auto claims = nodes_behind("to_dot", y.node(), Access::read);
    std::map<std::uint64_t, const Node<T>*> nodes{{y.node()->order, y.node().get()}};  // by order
    for (const Claim<T>& claim : claims)
        for (const NodePtr<T>& input : claim.node()->inputs)
            if (input) nodes.emplace(input->order, input.get());
    std::unordered_map<const Node<T>*, std::size_t> number;
    for (const auto& [order, node] : nodes) number.emplace(node, number.size());

    std::string dot = "digraph {\n    rankdir=LR\n    node [shape=box]\n";
    for (const auto& [order, place] : nodes) {
        const Node<T>& node = *place;
        const auto named = name_of.find(&node);
        std::string label = named == name_of.end() ? std::string(node.op) : named->second;
        if (named != name_of.end() && !node.is_leaf()) label += fmt::format(" = {}", node.op);
        label += fmt::format("\n{}", node.shape);
        dot += fmt::format("    {} [label={:?}{}]\n", number[&node], label, node.is_leaf() ? ", shape=ellipse" : "");
        for (const NodePtr<T>& input : node.inputs) {
            if (input) dot += fmt::format("    {} -> {}\n", number[input.get()], number[&node]);
        }
    }
    return dot + "}\n";
}

template std::string to_dot(const Tensor<float>&, const std::vector<std::pair<std::string, Tensor<float>>>&);
template std::string to_dot(const Tensor<double>&, const std::vector<std::pair<std::string, Tensor<double>>>&);

}  // namespace inkling

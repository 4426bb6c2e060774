#include "engine/autograd/debug/graph_picture.h"

#include <algorithm>
#include <unordered_map>

#include "engine/autograd/walk.h"

namespace inkling {
namespace {

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '"' || c == '\\') safe += '\\';
        c == '\n' ? safe += "\\n" : safe += c;
    }
    return safe;
}

}  // namespace

template <class T>
std::string to_dot(const Tensor<T>& y, const std::vector<std::pair<std::string, Tensor<T>>>& names) {
    check(y.requires_grad(), "to_dot: the tensor does not depend on anything that requires a gradient");
    std::unordered_map<const Node<T>*, std::string> name_of;
    for (const auto& [name, tensor] : names) name_of.emplace(tensor.node().get(), name);

    const auto claims = nodes_behind("to_dot", y.node(), Access::read);
    std::vector<const Node<T>*> nodes;
    std::unordered_map<const Node<T>*, std::size_t> number;
    const auto note = [&](const NodePtr<T>& node) {
        if (node && number.emplace(node.get(), 0).second) nodes.push_back(node.get());
    };
    note(y.node());
    for (const Claim<T>& claim : claims)
        for (const NodePtr<T>& input : claim.node()->inputs) note(input);
    std::sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) { return a->order < b->order; });
    for (std::size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;

    std::string dot = "digraph {\n    rankdir=LR\n    node [shape=box]\n";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node<T>& node = *nodes[i];
        const auto named = name_of.find(&node);
        std::string label = named == name_of.end() ? std::string(node.op) : escaped(named->second);
        if (named != name_of.end() && !node.is_leaf()) label += fmt::format(" = {}", node.op);
        dot += fmt::format("    {} [label=\"{}\\n{}\"{}]\n", i, label, node.shape,
                           node.is_leaf() ? ", shape=ellipse" : "");
        for (const NodePtr<T>& input : node.inputs) {
            if (input) dot += fmt::format("    {} -> {}\n", number[input.get()], i);
        }
    }
    return dot + "}\n";
}

template std::string to_dot(const Tensor<float>&, const std::vector<std::pair<std::string, Tensor<float>>>&);
template std::string to_dot(const Tensor<double>&, const std::vector<std::pair<std::string, Tensor<double>>>&);

}  // namespace inkling

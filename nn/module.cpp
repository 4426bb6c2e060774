#include "nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <typeinfo>

namespace inkling::nn {
namespace {

// "Linear" for inkling::nn::Linear<float>.
std::string class_name(const std::type_info& type) {
    char* const full = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
    std::string name = full ? full : type.name();
    std::free(full);
    std::size_t end = name.size();
    if (name.ends_with('>')) {  // drop the template arguments
        int depth = 0;
        do {
            --end;
            depth += name[end] == '>' ? 1 : name[end] == '<' ? -1 : 0;
        } while (depth > 0 && end > 0);
    }
    name.resize(end);
    const std::size_t colon = name.rfind("::");
    return colon == std::string::npos ? name : name.substr(colon + 2);
}

struct Tree {
    std::string label = "", type = "";  // of the module visited under this name, if any
    std::string parameter = "";         // or the parameter's shape
    std::size_t count = 0;              // elements
    std::vector<Tree> parts = {};

    // The node at a dotted path, created if missing.
    Tree& at(const std::string& path) {
        Tree* tree = this;
        for (std::size_t begin = 0; begin < path.size();) {
            const std::size_t end = std::min(path.find('.', begin), path.size());
            const std::string part = path.substr(begin, end - begin);
            const auto found = std::find_if(tree->parts.begin(), tree->parts.end(),
                                            [&part](const Tree& child) { return child.label == part; });
            tree = found != tree->parts.end() ? &*found : &tree->parts.emplace_back(Tree{.label = part});
            begin = end + 1;
        }
        return *tree;
    }

    std::size_t total() const {
        std::size_t sum = count;
        for (const Tree& part : parts) sum += part.total();
        return sum;
    }
};

bool is_number(const std::string& label) {
    return !label.empty() && label.find_first_not_of("0123456789") == std::string::npos;
}

// The text after a node's label, without the count. Parameters share one line.
std::string text_of(const Tree& tree, std::size_t indent) {
    std::string inline_parts, lines;
    const std::string margin(indent + 2, ' ');
    for (std::size_t i = 0; i < tree.parts.size();) {
        const Tree& part = tree.parts[i];
        if (!part.parameter.empty()) {
            inline_parts += fmt::format("{}{} {}", inline_parts.empty() ? "" : ", ", part.label, part.parameter);
            ++i;
            continue;
        }
        const std::string text = text_of(part, indent + 2);
        std::size_t end = i + 1;
        const auto follows = [&](const Tree& next) {
            return is_number(part.label) && next.label == std::to_string(std::stoull(part.label) + end - i) &&
                   next.parameter.empty() && text_of(next, indent + 2) == text;
        };
        while (end < tree.parts.size() && follows(tree.parts[end])) ++end;
        std::string label = part.label, times, count;
        if (part.total() > 0) count = fmt::format("  # {}", part.total());
        if (end > i + 1) {
            label += fmt::format("-{}", tree.parts[end - 1].label);
            times = fmt::format("{} x ", end - i);
            if (!count.empty()) count += " each";
        }
        const std::size_t first_line = std::min(text.find('\n'), text.size());
        lines += fmt::format("{}({}): {}{}{}{}\n", margin, label, times, text.substr(0, first_line), count,
                             text.substr(first_line));
        i = end;
    }
    if (!lines.empty()) lines = fmt::format("\n{}{}", lines, std::string(indent, ' '));
    return fmt::format("{}({}{})", tree.type, inline_parts, lines);
}

template <class T>
Tree tree_of(Module<T>& module) {
    Tree tree;
    tree.type = class_name(typeid(module));
    module.visit(
        {.on_module = [&](const std::string& name, Module<T>& m) { tree.at(name).type = class_name(typeid(m)); },
         .on_weight =
             [&](const std::string& name, const Weight<T>& w) {
                 Tree& part = tree.at(name);
                 part.parameter = inkling::to_string(w.shape()) + (w.tensor().requires_grad() ? "" : " frozen");
                 part.count = w.size();
             }});
    return tree;
}

}  // namespace

template <class T>
std::vector<std::pair<std::string, Tensor<T>>> Module<T>::parameters() {
    std::vector<std::pair<std::string, Tensor<T>>> found;
    visit({.on_parameter = [&](const std::string& name, Tensor<T>& p, const ParameterKind&) {
        found.emplace_back(name, p);
    }});
    return found;
}

template <class T>
std::vector<std::string> Module<T>::buffers() {
    std::vector<std::string> found;
    visit({.on_buffer = [&](const std::string& name) { found.push_back(name); }});
    return found;
}

template <class T>
std::size_t Module<T>::parameter_count() {
    std::size_t n = 0;
    visit({.on_weight = [&n](const std::string&, const Weight<T>& w) { n += w.size(); }});
    return n;
}

template <class T>
void Module<T>::train(bool on) {
    training_ = on;
    visit({.on_module = [on](const std::string&, Module<T>& child) { child.training_ = on; }});
}

template <class T>
void Module<T>::zero_grad() {
    for (auto& [name, p] : parameters()) p.zero_grad();
}

template <class T>
void Module<T>::freeze(const std::function<bool(const std::string& name)>& which) {
    visit({.on_parameter = [&](const std::string& name, Tensor<T>& p, const ParameterKind&) {
        if (which && !which(name)) return;
        p.zero_grad();  // an optimizer that was made before must not follow the old gradient
        p = p.detach();
    }});
}

// In PyTorch's format:
//   Sequential(  # 105 parameters
//     (0-1): 2 x Linear(weight (8, 2), bias (8,))  # 24 each
//     (2): Linear(weight (7, 8), bias (1,) frozen)  # 57
//   )
template <class T>
std::string Module<T>::to_string() {
    const Tree tree = tree_of(*this);
    const std::string text = text_of(tree, 0);
    const std::size_t first_line = std::min(text.find('\n'), text.size());
    return text.substr(0, first_line) + fmt::format("  # {} parameters", tree.total()) + text.substr(first_line);
}

template class Module<float>;
template class Module<double>;

}  // namespace inkling::nn

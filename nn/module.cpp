#include "nn/module.h"

namespace inkling::nn {

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
    for (const auto& [name, p] : parameters()) n += p.size();
    return n;
}

template <class T>
void Module<T>::train(bool on) {
    training_ = on;
    visit({.on_module = [on](Module<T>& child) { child.training_ = on; }});
}

template <class T>
void Module<T>::zero_grad() {
    for (auto& [name, p] : parameters()) p.zero_grad();
}

template <class T>
void Module<T>::freeze(const std::function<bool(const std::string& name)>& which) {
    visit({.on_parameter = [&](const std::string& name, Tensor<T>& p, const ParameterKind&) {
        if (!which || which(name)) p = p.detach();
    }});
}

template class Module<float>;
template class Module<double>;

}  // namespace inkling::nn

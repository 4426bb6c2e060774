#include "nn/flat.h"

#include <algorithm>
#include <map>

namespace inkling::nn {

template <class T>
FlatParameters<T>::FlatParameters(Module<T>& module) {
    constexpr std::size_t kAlign = 64 / sizeof(T);
    std::map<std::string, Tensor<T>*> places;
    const auto add = [&](const std::string& name, Tensor<T>& p, const ParameterKind& kind) {
        check(places.emplace(name, &p).second, "flat parameters: every name must be unique, got '{}' twice", name);
        for (const Entry& e : entries_)
            check(e.parameter.node() != p.node(), "flat parameters: '{}' and '{}' are one tensor: visit it once",
                  e.name, name);
        if (p.requires_grad()) entries_.push_back({name, p, 0, kind});
    };
    const auto add_frozen = [&](const std::string&, const Weight<T>& w) {
        if (!w.tensor().requires_grad()) frozen_.push_back(w);
    };
    module.visit({.on_parameter = add, .on_weight = add_frozen});
    check(!entries_.empty(), "flat parameters: nothing is to be trained: all {} parameters are frozen", frozen_.size());
    const auto is_matrix = [](const Entry& e) { return e.parameter.rank() >= 2; };
    std::stable_partition(entries_.begin(), entries_.end(), is_matrix);
    std::size_t end = 0;
    for (Entry& e : entries_) {
        e.offset = end;
        end += (e.parameter.size() + kAlign - 1) / kAlign * kAlign;
        if (is_matrix(e)) matrix_elements_ = end;
    }
    values_ = Array<T>({end}, T{0});
    gradients_ = Array<T>({end}, T{0});
    for (Entry& e : entries_) {
        Tensor<T>& p = *places.at(e.name);
        const auto place = [&](const Array<T>& flat) {
            return flat.sliced(0, e.offset, e.offset + p.size()).reshaped(p.shape());
        };
        p.bind(place(values_), place(gradients_));
        e.parameter = p;
    }
    release_cached_buffers();  // the parameters' old buffers
}

template <class T>
Array<T>& FlatParameters<T>::gradients() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Array<T>& grad = entries_[i].parameter.node()->grad;
        if (!is_reached(i)) std::fill_n(grad.data(), grad.size(), T{0});
    }
    return gradients_;
}

template <class T>
void FlatParameters<T>::zero_gradients() {
    for (Entry& e : entries_) e.parameter.zero_grad();
}

template class FlatParameters<float>;
template class FlatParameters<double>;

}  // namespace inkling::nn

#include "models/transformer_parameters.h"

#include <algorithm>

#include "models/families/family.h"
#include "nn/init.h"

namespace inkling::models {

template <class T>
TransformerParameters<T>::TransformerParameters(const Architecture& architecture, std::optional<Generator> random)
    : config(architecture) {
    config.validate();
    layers.resize(config.n_layer);
    if (!random) return;
    const std::vector<Parameter> all = models::parameters(config);
    // Keys begin behind as many as tables and linear maps have weights and biases: a seed gives the model that it has
    // always given.
    const auto drawn = std::count_if(all.begin(), all.end(), [](const Parameter& p) { return !is_norm(p.part); });
    random->next_stream += static_cast<std::uint64_t>(drawn);
    for (const Parameter& p : all) {
        Tensor<T>& tensor = at(p) = Tensor<T>(Array<T>(p.shape), true);
        if (p.deviation > 0) {
            nn::fill_normal(tensor, p.deviation, random->next());
        } else {
            std::fill_n(tensor.value_in_place().data(), tensor.size(), p.bias ? T{0} : T{1});
        }
    }
}

template <class T>
Tensor<T>& TransformerParameters<T>::at(const Parameter& p) {
    Weights<Tensor<T>>& w = (in_layer(p.part) ? layers[p.layer] : parts)[p.part];
    return p.bias ? w.bias : w.weight;
}

template <class T>
void TransformerParameters<T>::freeze(WeightType type, const std::function<bool(const Parameter&)>& which) {
    for (const Parameter& p : models::parameters(config)) {
        if (which && !which(p)) continue;
        Tensor<T>& tensor = at(p);
        tensor = may_be_packed(p) ? packed(tensor, type) : tensor.detach();
    }
}

template <class T>
void TransformerParameters<T>::visit(const nn::Visitor<T>& visitor) {
    const Family& names = family(config.family);
    for (const Parameter& p : models::parameters(config)) visitor(names.name_of(p), at(p), p.kind);
}

template class TransformerParameters<float>;
template class TransformerParameters<double>;

}  // namespace inkling::models

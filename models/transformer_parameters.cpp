#include "models/transformer_parameters.h"

#include <algorithm>

#include "engine/kernels/gemm.h"
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
    Weights<Tensor<T>>& w = weights_of(p);
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
void TransformerParameters<T>::adapt(const AdapterOptions& options, const ParameterFilter& targets,
                                     std::optional<Generator> random) {
    const std::size_t r = options.rank;
    check(r > 0, "adapters: a rank of at least 1 is required, got {}", r);
    check(options.dropout >= 0 && options.dropout < 1, "adapters: a dropout in [0, 1) is required, got {}",
          options.dropout);
    adapter = options;
    for (const Parameter& p : models::parameters(config)) {
        Tensor<T>& tensor = at(p);
        tensor = tensor.detach();
        if (p.bias) continue;
        Weights<Tensor<T>>& w = weights_of(p);
        w.lora_a = w.lora_b = Tensor<T>();
        if (!random || !may_be_adapted(p) || !targets(p)) continue;
        const std::size_t out = p.shape[0], in = p.shape[1];
        w.lora_a = nn::uniform_parameter<T>({r, in}, 1 / std::sqrt(static_cast<double>(in)), random->next());
        w.lora_b = Tensor<T>::zeros({out, r}, true);
    }
}

template <class T>
void TransformerParameters<T>::merge_adapters() {
    for (const Parameter& p : models::parameters(config)) {
        Tensor<T>& tensor = at(p);
        if (tensor.packed()) tensor = Tensor<T>(unpacked(tensor));
        tensor = Tensor<T>(tensor.value(), true);
        if (!has_adapter(p)) continue;
        Weights<Tensor<T>>& w = weights_of(p);
        Array<T> sum = tensor.value_in_place();
        Array<T> b = w.lora_b.value().clone();
        b *= static_cast<T>(adapter.scale());
        gemm(b, w.lora_a.value(), sum, {.accumulate = true});
        w.lora_a = w.lora_b = Tensor<T>();
    }
    adapter = {};
}

template <class T>
bool TransformerParameters<T>::has_adapter(const Parameter& p) const {
    return !p.bias && (in_layer(p.part) ? layers[p.layer] : parts)[p.part].lora_a.defined();
}

template <class T>
void TransformerParameters<T>::visit(const nn::Visitor<T>& visitor) {
    const Family& names = family(config.family);
    for (const Parameter& p : models::parameters(config)) {
        visitor(names.name_of(p), at(p), p.kind);
        if (!has_adapter(p)) continue;
        const std::string layer = layer_name(config, p);  // a head's adapter learns at a head's rate
        visitor(layer + ".lora_A.weight", weights_of(p).lora_a, {p.kind.role});
        visitor(layer + ".lora_B.weight", weights_of(p).lora_b, {p.kind.role});
    }
}

template class TransformerParameters<float>;
template class TransformerParameters<double>;

}  // namespace inkling::models

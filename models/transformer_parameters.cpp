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
    const std::vector<ParameterSpec> all = models::parameters(config);
    // Keys begin behind as many as tables and linear maps have weights and biases: a seed gives the model that it has
    // always given.
    const auto drawn = std::count_if(all.begin(), all.end(), [](const ParameterSpec& p) { return !is_norm(p.part); });
    random->next_stream += static_cast<std::uint64_t>(drawn);
    for (const ParameterSpec& p : all) {
        Tensor<T>& tensor = at(p) = Tensor<T>(Array<T>(p.shape), true);
        if (p.deviation > 0) {
            nn::fill_normal(tensor, p.deviation, random->next());
        } else {
            std::fill_n(tensor.value_in_place().data(), tensor.size(),
                        p.bias || config.norm_gain_plus_one ? T{0} : T{1});
        }
    }
}

template <class T>
Tensor<T>& TransformerParameters<T>::at(const ParameterSpec& p) {
    Weights<Tensor<T>>& w = weights_of(p);
    return p.bias ? w.bias : w.weight;
}

template <class T>
void TransformerParameters<T>::set(const ParameterSpec& p, const Tensor<T>& values, WeightStorage storage) {
    const bool as_it_is = !may_be_packed(p) || (storage.inference && p.part == Part::token_table) ||
                          (storage.type == WeightType::fp32 && !values.packed());
    at(p) = as_it_is ? values : packed(values, storage.type);
}

template <class T>
void TransformerParameters<T>::freeze(WeightStorage storage, const ParameterFilter& which) {
    for (const ParameterSpec& p : models::parameters(config))
        if (!which || which(p)) set(p, at(p).detach(), storage);
}

template <class T>
void TransformerParameters<T>::share(const TransformerParameters& other) {
    config = other.config, adapter = other.adapter;
    parts = other.parts, layers = other.layers;
}

template <class T>
void TransformerParameters<T>::share_adapters(const TransformerParameters& other) {
    adapter = other.adapter;
    for (const ParameterSpec& p : models::parameters(config)) {
        Weights<Tensor<T>>& mine = weights_of(p);
        const Weights<Tensor<T>>& theirs = (in_layer(p.part) ? other.layers[p.layer] : other.parts)[p.part];
        mine.lora_a = theirs.lora_a, mine.lora_b = theirs.lora_b;
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
    for (const ParameterSpec& p : models::parameters(config)) {
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
    for (const ParameterSpec& p : models::parameters(config)) {
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
bool TransformerParameters<T>::has_adapter(const ParameterSpec& p) const {
    return !p.bias && (in_layer(p.part) ? layers[p.layer] : parts)[p.part].lora_a.defined();
}

template <class T>
void TransformerParameters<T>::visit(const nn::Visitor<T>& visitor) {
    const Family& names = family(config.family);
    for (const ParameterSpec& p : models::parameters(config)) {
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

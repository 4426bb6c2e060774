// The parameters of a decoder as tensors, for Transformer and InferenceModel.
//   TransformerParameters<float> all(architecture);
//   all.outer[ParameterName::token_table].weight; all.layers[0][ParameterName::up].bias
#pragma once

#include <optional>
#include <vector>

#include "engine/base/random.h"
#include "models/adapter.h"
#include "models/parameters.h"

namespace inkling::models {

// How a model stores its matrices; vectors and the table of positions stay float32.
struct WeightStorage {
    WeightType type = WeightType::fp32;
    // For inference: the token table, whose rows are only looked up, stays unpacked, and bfloat16 weights are not
    // widened to float32.
    bool inference = false;
};

template <class T>
class TransformerParameters : public nn::Module<T> {
  public:
    using Layer = NamedWeights<T>;

    // Draws initial values with keys of `random`; without it tensors stay undefined until at() sets them. Throws for a
    // senseless architecture.
    explicit TransformerParameters(const Architecture& architecture,
                                   std::optional<Generator> random = Generator{1337, 0});

    // Under the names of the family's files: transformer.h.0.attn.c_attn.weight, ... Throws for a part without a name
    // in the family.
    void visit(const nn::Visitor<T>& visitor) override;

    // Freezes all parameters, or those that `which` selects, and stores them as given.
    using nn::Module<T>::freeze;
    void freeze(WeightStorage storage, const ParameterFilter& which = nullptr);
    // Sets a parameter to these values, stored as given. Packed ones have no gradient.
    void set(const ParameterSpec& p, const Weight<T>& values, WeightStorage storage);
    // Shares the tensors of another model of the same sizes, with its adapters, or only the adapters.
    void share(const TransformerParameters& other);
    void share_adapters(const TransformerParameters& other);

    // Its parameters: the architecture's, each weight followed by its adapter, if any.
    std::vector<ParameterSpec> specs() const;

    // Freezes all parameters and gives those that `targets` selects new low-rank adapters (models/adapter.h). Each A
    // takes a key of `random`; without it A and B stay undefined until at() sets them.
    void adapt(const AdapterOptions& options, const ParameterFilter& targets, std::optional<Generator> random);
    std::uint64_t adapter_count() const;  // elements of the adapters
    // Adds the adapters to their weights, which become float32, and unfreezes all parameters.
    void merge_adapters();
    bool has_adapter(const ParameterSpec& p) const { return may_be_adapted(p) && weights_of(p).lora_a.defined(); }

    Weights<T>& weights_of(const ParameterSpec& p) { return (in_layer(p.name) ? layers[p.layer] : outer)[p.name]; }
    const Weights<T>& weights_of(const ParameterSpec& p) const {
        return (in_layer(p.name) ? layers[p.layer] : outer)[p.name];
    }
    Weight<T>& at(const ParameterSpec& p) { return weights_of(p)[p.slot]; }
    const Weight<T>& at(const ParameterSpec& p) const { return weights_of(p)[p.slot]; }
    // The head: the token table if tied, unless it is stored separately as another type.
    Weights<T> head() const {
        Weights<T> own = outer[ParameterName::head];
        if (!own.weight.defined()) own.weight = outer[ParameterName::token_table].weight;
        return own;
    }

    Architecture config;
    AdapterOptions adapter;     // rank 0: none
    Layer outer;                // outside of layers: tables, last norm, head
    std::vector<Layer> layers;  // of each layer
};

extern template class TransformerParameters<float>;
extern template class TransformerParameters<double>;

}  // namespace inkling::models

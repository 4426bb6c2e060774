// The parameters of a decoder as tensors: a Transformer computes with them, and an InferenceModel is made from them.
//   TransformerParameters<float> all(architecture);
//   all.parts[Part::token_table].weight; all.layers[0][Part::up].bias
#pragma once

#include <optional>
#include <vector>

#include "engine/autograd/packed_matrix.h"
#include "engine/base/random.h"
#include "models/adapter.h"
#include "models/parameters.h"

namespace inkling::models {

// How a model stores its matrices, but for the table of positions, which stays float32 as vectors do.
struct WeightStorage {
    WeightType type = WeightType::fp32;
    // For inference the token table, whose rows are only looked up, stays as it is, and bfloat16 weights are not
    // widened to float32.
    bool inference = false;
};

template <class T>
class TransformerParameters : public nn::Module<T> {
  public:
    using Layer = Parts<Weights<Tensor<T>>>;

    // Initial values are drawn with keys of `random`; without it the tensors are left undefined, for at() to set.
    // Throws when the architecture makes no sense.
    explicit TransformerParameters(const Architecture& architecture,
                                   std::optional<Generator> random = Generator{1337, 0});

    // Under the names that the family's files use: transformer.h.0.attn.c_attn.weight, ... Throws for a part that the
    // family has no name for.
    void visit(const nn::Visitor<T>& visitor) override;

    // Freezes all parameters, or those that `which` says yes to, and stores them so.
    using nn::Module<T>::freeze;
    void freeze(WeightStorage storage, const ParameterFilter& which = nullptr);
    // Sets a parameter to these values, stored so. What is packed has no gradient.
    void set(const ParameterSpec& p, const Tensor<T>& values, WeightStorage storage);
    // Shares the tensors of another model of the same sizes, its adapters included, or the adapters alone.
    void share(const TransformerParameters& other);
    void share_adapters(const TransformerParameters& other);

    // The list of its parameters: the architecture's, and behind each weight its adapter, where it has one.
    std::vector<ParameterSpec> specs() const;

    // Freezes all parameters, and gives those that `targets` says yes to low-rank adapters (models/adapter.h) in place
    // of the ones they had. A takes a key of `random` each; without it A and B are left undefined, for at() to set.
    void adapt(const AdapterOptions& options, const ParameterFilter& targets, std::optional<Generator> random);
    // Adds the adapters to their weights, which are float32 then; all parameters are trained again.
    void merge_adapters();
    bool has_adapter(const ParameterSpec& p) const { return may_be_adapted(p) && weights_of(p).lora_a.defined(); }

    Weights<Tensor<T>>& weights_of(const ParameterSpec& p) {
        return (in_layer(p.part) ? layers[p.layer] : parts)[p.part];
    }
    const Weights<Tensor<T>>& weights_of(const ParameterSpec& p) const {
        return (in_layer(p.part) ? layers[p.layer] : parts)[p.part];
    }
    Tensor<T>& at(const ParameterSpec& p) { return weights_of(p)[p.slot]; }
    const Tensor<T>& at(const ParameterSpec& p) const { return weights_of(p)[p.slot]; }
    // The head, which is the token table where it is tied; but one may be stored by itself, as another type.
    Weights<Tensor<T>> head() const {
        Weights<Tensor<T>> own = parts[Part::head];
        if (!own.weight.defined()) own.weight = parts[Part::token_table].weight;
        return own;
    }

    Architecture config;
    AdapterOptions adapter;     // rank 0: there are none
    Layer parts;                // of which there is one: tables, last norm, head
    std::vector<Layer> layers;  // those of each layer
};

extern template class TransformerParameters<float>;
extern template class TransformerParameters<double>;

}  // namespace inkling::models

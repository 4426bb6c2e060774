// The parameters of a decoder as tensors: what a Transformer computes with, and a Decoder is made from.
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

    // Freezes all parameters, or those that `which` says yes to; their matrices are kept as `type`, but for the table
    // of positions, which is added, not multiplied with.
    using nn::Module<T>::freeze;
    void freeze(WeightType type, const std::function<bool(const Parameter&)>& which = nullptr);

    // Freezes all parameters, and gives those that `targets` says yes to low-rank adapters (models/adapter.h) in place
    // of the ones they had. A takes a key of `random` each; without it A and B are left undefined, for weights_of() to
    // set.
    void adapt(const AdapterOptions& options, const ParameterFilter& targets, std::optional<Generator> random);
    // Adds the adapters to their weights, which are float32 then; all parameters are trained again.
    void merge_adapters();
    bool has_adapter(const Parameter& p) const;

    Tensor<T>& at(const Parameter& p);
    Weights<Tensor<T>>& weights_of(const Parameter& p) { return (in_layer(p.part) ? layers[p.layer] : parts)[p.part]; }
    const Tensor<T>& head_weight() const { return parts[config.tied_head ? Part::token_table : Part::head].weight; }

    Architecture config;
    AdapterOptions adapter;     // rank 0: there are none
    Layer parts;                // of which there is one: tables, last norm, head
    std::vector<Layer> layers;  // those of each layer
};

extern template class TransformerParameters<float>;
extern template class TransformerParameters<double>;

}  // namespace inkling::models

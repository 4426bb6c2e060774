// A decoder-only transformer (Vaswani et al. 2017; Radford et al. 2018), of any Architecture: tokens and positions,
// layers of causal attention and a feed-forward part, each behind a norm and added to the stream, a norm and a head.
//   Transformer<float> model(architecture);
//   Tensor<float> loss = model.loss(ids, targets);   // both (B, T)
#pragma once

#include "models/transformer_parameters.h"
#include "nn/attention/scaled_dot_product.h"

namespace inkling::models {

template <class T>
class Transformer : public TransformerParameters<T> {
  public:
    using TransformerParameters<T>::TransformerParameters;
    using typename TransformerParameters<T>::Layer;
    using TransformerParameters<T>::config, TransformerParameters<T>::parts, TransformerParameters<T>::layers;
    using TransformerParameters<T>::head_weight, TransformerParameters<T>::adapter;

    // ids (B, T) -> (B, T, C), after the last norm. When asked, each layer's attention weights (B, H, T, T) are
    // appended to `weights`. In training mode with dropout, its masks follow from keys of `random`. `begins` (B, T):
    // where the document of each token begins in its row; each is then read as if it were alone.
    Tensor<T> hidden(const IdArray& ids, std::vector<Tensor<T>>* weights = nullptr, Generator* random = nullptr,
                     const IdArray& begins = {}) const;
    Tensor<T> logits(const Tensor<T>& hidden, Generator* random = nullptr) const;  // (..., C) -> (..., V)
    Tensor<T> forward(const IdArray& ids) const { return logits(hidden(ids)); }
    Tensor<T> loss(const IdArray& ids, const IdArray& targets, Generator* random = nullptr,
                   const IdArray& begins = {}) const;  // mean nats a token

    bool checkpoint_activations = false;  // run each layer once more in backward, instead of keeping what is inside

  private:
    // What the layers share: the documents of a batch, and the angles of its positions where these are rotary.
    struct Batch {
        Documents documents;
        ConstArray<T> angles;
    };
    Tensor<T> layer(const Layer& l, const Tensor<T>& x, Generator& random, Tensor<T>* weights,
                    const Batch& batch) const;
    nn::AttentionOutput<T> attention(const Layer& l, const Tensor<T>& x, Generator& random, nn::Weights wanted,
                                     const Batch& batch) const;
    Tensor<T> mlp(const Layer& l, const Tensor<T>& x, Generator& random) const;
    Tensor<T> applied(const Weights<Tensor<T>>& map, const Tensor<T>& x, Generator& random) const;
    Tensor<T> norm(const Weights<Tensor<T>>& norm, const Tensor<T>& x) const;
    Tensor<T> rotated(Tensor<T> heads, const Tensor<T>& gain, const Batch& batch) const;
    bool drops() const { return this->training() && config.dropout > 0; }
    bool adapters_drop() const { return this->training() && adapter.dropout > 0; }
    bool head_adapted() const { return parts[Part::head].lora_a.defined(); }
    Tensor<T> dropped(const Tensor<T>& x, Generator& random) const;
};

extern template class Transformer<float>;
extern template class Transformer<double>;

}  // namespace inkling::models

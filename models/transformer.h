// A decoder-only transformer (Vaswani et al. 2017; Radford et al. 2018) of any Architecture: tokens and positions,
// layers of causal attention and a feed-forward part, each after a norm and added to the stream, a norm and a head.
//   Transformer<float> model(architecture);
//   Tensor<float> loss = model.loss(ids, targets);   // both (B, T)
#pragma once

#include "engine/ops/plain/attention_masks.h"
#include "models/kv_cache.h"
#include "models/rotary_positions.h"
#include "models/transformer_parameters.h"

namespace inkling::models {

template <class T>
struct HiddenOptions {
    // The text so far, for one row of ids, which cache->advance() then appends to it. Without gradients, in float32.
    KvCache* cache = nullptr;
    Documents documents = {};                             // several texts in a row, each computed as if alone
    std::vector<Tensor<T>>* attention_weights = nullptr;  // appends each layer's attention weights (B, H, T, T)
    Generator* random = nullptr;                          // keys for dropout, in training mode
};

template <class T>
class Transformer : public TransformerParameters<T> {
  public:
    using TransformerParameters<T>::TransformerParameters;
    using typename TransformerParameters<T>::Layer;
    using TransformerParameters<T>::config, TransformerParameters<T>::outer, TransformerParameters<T>::layers;
    using TransformerParameters<T>::head, TransformerParameters<T>::adapter;

    // ids (B, T) -> (B, T, C), after the last norm. Interruptible before each layer.
    Tensor<T> hidden(const IdArray& ids, const HiddenOptions<T>& options = {}) const;
    Tensor<T> logits(const Tensor<T>& hidden, Generator* random = nullptr) const;  // (..., C) -> (..., V)
    Tensor<T> forward(const IdArray& ids) const { return logits(hidden(ids)); }
    Tensor<T> loss(const IdArray& ids, const IdArray& targets, Generator* random = nullptr,
                   const Documents& documents = {}) const;  // mean nats a token

    RotaryTables<T> rotary_tables(std::size_t start, std::size_t rows) const { return rotary_->tables(start, rows); }

    bool checkpoint_activations = false;  // recompute each layer in backward instead of keeping its activations

  private:
    struct Ops;  // of models/decoder.h
    std::shared_ptr<RotaryPositions<T>> rotary_ = std::make_shared<RotaryPositions<T>>(this->config);
};

extern template class Transformer<float>;
extern template class Transformer<double>;

}  // namespace inkling::models

// GPT-2 (Radford et al. 2019): tokens and learned positions, blocks of causal attention and a feed-forward part, each
// behind a layer norm and added to the stream, and a head that shares its weights with the token table.
//   GPT<float> model(config);
//   Tensor<float> loss = model.loss(ids, targets);   // both (B, T)
#pragma once

#include <memory>
#include <vector>

#include "models/language_model.h"
#include "nn/attention/multi_head.h"
#include "nn/embedding.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/positions.h"

namespace inkling::models {

template <class T>
class Block : public nn::Module<T> {
  public:
    explicit Block(const GPTConfig& config);
    // (B, T, C) -> (B, T, C). When asked, the attention weights (B, H, T, T) are put in `weights`.
    Tensor<T> forward(const Tensor<T>& x, Tensor<T>* weights = nullptr) const;
    void visit(const nn::Visitor<T>& v) override;

    nn::LayerNorm<T> ln_1, ln_2;
    nn::MultiHeadAttention<T> attn;
    nn::MLP<T> mlp;
    nn::Dropout<T> dropout;
};

template <class T>
class GPT : public LanguageModel<T> {
  public:
    // Initial values as GPT-2: N(0, 0.02), projections back into the stream N(0, 0.02 / sqrt(2 n_layer)), biases 0.
    explicit GPT(const GPTConfig& config);

    Tensor<T> hidden(const IdArray& ids, std::vector<Tensor<T>>* weights = nullptr) const override;
    Tensor<T> logits(const Tensor<T>& hidden) const override;
    Tensor<T> loss(const IdArray& ids, const IdArray& targets) const override;

    // Names as in Hugging Face's GPT2LMHeadModel: transformer.h.0.attn.c_attn.weight, ...
    void visit(const nn::Visitor<T>& v) override;

    nn::Embedding<T> wte;
    nn::LearnedPositions<T> wpe;
    nn::Dropout<T> dropout;
    std::vector<std::unique_ptr<Block<T>>> blocks;
    nn::LayerNorm<T> ln_f;
};

extern template class Block<float>;
extern template class Block<double>;
extern template class GPT<float>;
extern template class GPT<double>;

}  // namespace inkling::models

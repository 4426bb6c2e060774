// nanochat's model (Karpathy 2025), as transformers' NanoChatForCausalLM computes it: rotary positions, norms without
// weights, queries and keys normed after they are turned, key and value heads that query heads share, squared relu, a
// norm after the token table, and a head of its own whose logits are capped.
//   NanoChat<float> model(config);   // config.arch == Arch::nanochat
#pragma once

#include <memory>
#include <vector>

#include "models/language_model.h"
#include "nn/attention/grouped_query.h"
#include "nn/embedding.h"
#include "nn/linear.h"

namespace inkling::models {

template <class T>
class NanoChatMLP : public nn::Module<T> {
  public:
    NanoChatMLP(std::size_t width, std::size_t hidden) : fc1(width, hidden, false), fc2(hidden, width, false) {}
    Tensor<T> forward(const Tensor<T>& x) const;  // (..., width) -> (..., width)
    void visit(const nn::Visitor<T>& v) override {
        v("fc1", fc1);
        v("fc2", fc2);
    }

    nn::Linear<T> fc1, fc2;
};

template <class T>
class NanoChatBlock : public nn::Module<T> {
  public:
    explicit NanoChatBlock(const GPTConfig& config);
    // (B, T, C) -> (B, T, C). When asked, the attention weights (B, H, T, T) are put in `weights`.
    Tensor<T> forward(const Tensor<T>& x, Tensor<T>* weights = nullptr) const;
    void visit(const nn::Visitor<T>& v) override {
        v("self_attn", self_attn);
        v("mlp", mlp);
    }

    nn::GroupedQueryAttention<T> self_attn;
    NanoChatMLP<T> mlp;
    double eps;
};

template <class T>
class NanoChat : public LanguageModel<T> {
  public:
    // Initial values as transformers': N(0, 0.02), the attention's projection back into the stream
    // N(0, 0.02 / sqrt(2 n_layer)), and that of the feed-forward part likewise; biases 0.
    explicit NanoChat(const GPTConfig& config);

    Tensor<T> hidden(const IdArray& ids, std::vector<Tensor<T>>* weights = nullptr) const override;
    Tensor<T> logits(const Tensor<T>& hidden) const override;
    Tensor<T> loss(const IdArray& ids, const IdArray& targets) const override;

    // Names as in Hugging Face's NanoChatForCausalLM: model.layers.0.self_attn.q_proj.weight, ...
    void visit(const nn::Visitor<T>& v) override;

    nn::Embedding<T> embed_tokens;
    std::vector<std::unique_ptr<NanoChatBlock<T>>> layers;
    nn::Linear<T> lm_head;
};

extern template class NanoChatMLP<float>;
extern template class NanoChatMLP<double>;
extern template class NanoChatBlock<float>;
extern template class NanoChatBlock<double>;
extern template class NanoChat<float>;
extern template class NanoChat<double>;

}  // namespace inkling::models

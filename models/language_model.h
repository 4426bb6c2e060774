// What training, evaluation and generation need of a model, whatever its family.
//   std::unique_ptr<LanguageModel<float>> model = make_model<float>(config);
//   Tensor<float> loss = model->loss(ids, targets);   // both (B, T)
#pragma once

#include <memory>
#include <vector>

#include "models/gpt_config.h"
#include "nn/module.h"

namespace inkling::models {

template <class T>
class LanguageModel : public nn::Module<T> {
  public:
    explicit LanguageModel(const GPTConfig& shape);  // throws when the config makes no sense

    // (B, T) -> (B, T, C), after the last norm. When asked, each block's attention weights (B, H, T, T) are appended to
    // `weights`.
    virtual Tensor<T> hidden(const IdArray& ids, std::vector<Tensor<T>>* weights = nullptr) const = 0;
    virtual Tensor<T> logits(const Tensor<T>& hidden) const = 0;  // (..., C) -> (..., V)
    Tensor<T> forward(const IdArray& ids) const { return logits(hidden(ids)); }
    virtual Tensor<T> loss(const IdArray& ids, const IdArray& targets) const = 0;  // mean nats a token

    GPTConfig config;
    bool checkpoint_activations = false;  // run each block once more in backward, instead of keeping what is inside

  protected:
    void check_ids(const IdArray& ids) const;  // (B, T) with 1 <= T <= block_size
};

// The one place that knows which families there are.
template <class T>
std::unique_ptr<LanguageModel<T>> make_model(const GPTConfig& config);

extern template class LanguageModel<float>;
extern template class LanguageModel<double>;

}  // namespace inkling::models

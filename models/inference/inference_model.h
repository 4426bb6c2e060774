// A transformer for inference: its weights frozen and stored as a WeightType, and text by text a cache of the keys and
// values so far, so that the next token's logits do not compute the tokens before it again. Outside autograd; the same
// numbers as model.forward(), up to rounding.
//   InferenceModel model(transformer, WeightType::bf16);
//   KvCache cache(model.config());
//   model.prefill(cache, prompt, logits);                                     // Transformer::hidden
//   model.step(std::span(&cache_pointer, 1), std::span(&token, 1), logits);   // one token each of several texts
// The same bits with any number of threads, and for a text alone or among others.
#pragma once

#include <functional>
#include <span>

#include "models/transformer.h"

namespace inkling::models {

class InferenceModel {
  public:
    // Shares the weights that the transformer has as `type`, and with fp32 those in bfloat16; others are copies, after
    // which it may go. Float32 products are the same to the last bit with either.
    explicit InferenceModel(const Transformer<float>& transformer, WeightType type = WeightType::fp32);

    // One over the same weights, with the adapter that this transformer has now (load_adapter).
    InferenceModel with_adapter(const Transformer<float>& transformer) const;

    const Architecture& config() const { return model_.config; }
    WeightType type() const { return type_; }
    // How many threads are worth their waits in a step of so many texts, which have so many tokens together, where
    // there are as many processors.
    std::size_t worthwhile_threads(std::size_t texts, std::size_t tokens = 0) const;

    // Appends tokens (1 or more) to the text in `cache`, which with them must not exceed the context; then logits (V)
    // are those of the token after the last. each(i, logits) gets those after each of them, several at the same time.
    // In the scope of an Interruptible it may end with Interrupted, and has appended nothing then.
    using EachLogits = std::function<void(std::size_t i, std::span<const float> logits)>;
    void prefill(KvCache& cache, std::span<const std::int32_t> tokens, std::span<float> logits,
                 const EachLogits& each = nullptr) const;

    // Appends tokens[b] to the text in caches[b]; logits (B, V).
    void step(std::span<KvCache* const> caches, std::span<const std::int32_t> tokens, std::span<float> logits) const;

  private:
    struct Step;
    void check_room(const KvCache& cache, std::span<const std::int32_t> tokens) const;
    void embed(std::int32_t token, std::size_t position, float* x) const;
    Precision precision() const { return type_ == WeightType::bf16 ? Precision::bf16 : Precision::fp32; }

    // Of vectors, row by row, as the transformer has it for tensors: token_step.cpp.
    void project(const Weights<Tensor<float>>& map, std::size_t begin, std::size_t end, const float* x,
                 std::size_t batch, float* y, std::size_t y_stride) const;
    void head(std::size_t begin, std::size_t end, const float* x, std::size_t batch, float* logits) const;
    void norm(const Weights<Tensor<float>>& norm, const float* x, std::size_t batch, float* y) const;
    void rotate_head(float* x, std::size_t position, std::size_t layer, const Tensor<float>& gain) const;

    Transformer<float> model_;
    WeightType type_;
    RotaryTables<float> angles_;  // of the whole context
    std::size_t bytes_ = 0;       // of the matrices that every token is multiplied with
};

}  // namespace inkling::models

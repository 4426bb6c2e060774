// A transformer for inference, outside autograd. Its weights are frozen and stored as a WeightType; a cache per text
// holds the keys and values so far, so that each token is computed once. Computes the same as model.forward(), up to
// rounding.
//   InferenceModel model(transformer, WeightType::bf16);
//   KvCache cache(model.config());
//   model.prefill(cache, prompt, logits);                                     // Transformer::hidden
//   model.step(std::span(&cache_pointer, 1), std::span(&token, 1), logits);   // decodes one token for each text
// The same bits with any number of threads, and for a text alone or among others.
#pragma once

#include <functional>
#include <span>

#include "models/transformer.h"

namespace inkling::models {

class InferenceModel {
  public:
    // Shares the weights that the transformer stores as `type` and, with fp32, those in bfloat16; copies the others.
    // The transformer may be destroyed afterwards. Float32 products have the same bits either way.
    explicit InferenceModel(const Transformer<float>& transformer, WeightType type = WeightType::fp32);

    // A model over the same weights with the adapter of this transformer (load_adapter).
    InferenceModel with_adapter(const Transformer<float>& transformer) const;

    // Of the caches that its texts get. At first f16 if weights are in blocks, whose inputs are rounded to 8 bits.
    CacheType cache_type = CacheType::f32;

    const Architecture& config() const { return model_.config; }
    WeightType type() const { return type_; }
    // The fastest number of threads for a step of `texts` texts with `tokens` tokens in all, given enough processors.
    std::size_t worthwhile_threads(std::size_t texts, std::size_t tokens = 0) const;

    // Appends tokens (1 or more) to the text in `cache`, which must fit into the context; logits (V) are those after
    // the last. each(i, logits) gets those after each token, from several threads. After an exception, of `each` too or
    // Interrupted in the scope of an Interruptible, nothing is appended.
    using EachLogits = std::function<void(std::size_t i, std::span<const float> logits)>;
    void prefill(KvCache& cache, std::span<const std::int32_t> tokens, std::span<float> logits,
                 const EachLogits& each = nullptr) const;

    // Appends tokens[b] to the text in caches[b], all distinct; logits (B, V).
    void step(std::span<KvCache* const> caches, std::span<const std::int32_t> tokens, std::span<float> logits) const;

  private:
    void check_room(const KvCache& cache, std::span<const std::int32_t> tokens) const;
    Precision precision() const { return type_ == WeightType::bf16 ? Precision::bf16 : Precision::fp32; }

    Transformer<float> model_;
    WeightType type_;
    std::size_t bytes_ = 0;  // of the matrices that multiply every token
};

}  // namespace inkling::models

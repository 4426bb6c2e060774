// A model that reads and writes text with a memory of what it has seen: logits of the next token without computing the
// tokens before it again. Outside autograd; the same numbers as model.forward(), up to rounding.
//   Decoder decoder(model, WeightType::bf16);
//   KvCache cache(model.config);
//   decoder.read(cache, prompt, logits);              // many tokens at once: gemm
//   decoder.step(std::span(&cache_pointer, 1), std::span(&token, 1), logits);   // one token each of several texts
// The same bits with any number of threads, and for a text alone or among others.
#pragma once

#include <functional>
#include <span>

#include "models/decoder/decoder_weights.h"
#include "models/decoder/kv_cache.h"

namespace inkling::models {

class Decoder {
  public:
    explicit Decoder(const Transformer<float>& model, WeightType type = WeightType::fp32) : weights_(model, type) {}

    // One over the same weights, with the adapter that `model` has now (load_adapter) in place of this one's.
    Decoder with_adapter(const Transformer<float>& model) const;

    const Architecture& config() const { return weights_.config; }
    WeightType type() const { return weights_.type; }
    // How many threads are worth their waits in a step of so many texts, which have so many tokens together, where
    // there are as many processors.
    std::size_t worthwhile_threads(std::size_t texts, std::size_t tokens = 0) const;

    // Appends tokens (1 or more) to the text in `cache`, which with them must not exceed the context; then logits (V)
    // are those of the token after the last. each(i, logits) gets those after each of them, several at the same time.
    // In the scope of an Interruptible it may end with Interrupted, and has appended nothing then.
    using EachLogits = std::function<void(std::size_t i, std::span<const float> logits)>;
    void read(KvCache& cache, std::span<const std::int32_t> tokens, std::span<float> logits,
              const EachLogits& each = nullptr) const;

    // Appends tokens[b] to the text in caches[b]; logits (B, V).
    void step(std::span<KvCache* const> caches, std::span<const std::int32_t> tokens, std::span<float> logits) const;

  private:
    struct Step;
    void check_room(const KvCache& cache, std::span<const std::int32_t> tokens) const;
    void read_logits(const Array<float>& x, const EachLogits& each) const;
    void embed(std::int32_t token, std::size_t position, float* x) const;

    DecoderWeights weights_;
};

}  // namespace inkling::models

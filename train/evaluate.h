// A model's loss on text that it was not trained on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/transformer.h"

namespace inkling::train {

// Mean nats a token over the whole of `tokens`: windows of the context's length side by side, so that every token but
// the first is predicted once. With a stride, windows begin that many tokens apart, and each counts the tokens that the
// one before did not reach: those then see at least context - stride tokens, at context / stride times the cost. The
// model is left in the mode that it was in. `stop` may end it early, with NaN.
double evaluate(models::Transformer<float>& model, std::span<const std::int32_t> tokens,
                const std::function<bool()>& stop = nullptr, std::size_t stride = 0);

// The same over `batches` batches of random windows, always the same ones.
double evaluate_sample(models::Transformer<float>& model, std::span<const std::int32_t> tokens, std::size_t batches,
                       std::size_t batch_size);

// A batch's ids as arrays (B, T).
IdArray id_array(std::span<const std::int32_t> ids, std::size_t batch, std::size_t length);

}  // namespace inkling::train

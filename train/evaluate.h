// A model's loss on text that it was not trained on.
//   const double nats = evaluate(model, tokens);
//   const double about = evaluate(model, tokens, {.max_tokens = 65536});
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "data/packing.h"
#include "data/token_view.h"
#include "distributed/processes.h"
#include "models/transformer.h"

namespace inkling::train {

struct EvaluateOptions {
    // Windows begin that many tokens apart, and each counts the tokens that the one before did not reach: those then
    // see at least context - stride tokens, at context / stride times the cost. 0: the context's length.
    std::size_t stride = 0;
    std::size_t length = 0;          // of the windows; 0: the model's context
    std::size_t max_tokens = 0;      // so many, in windows spread evenly over the text; 0: all
    std::size_t* counted = nullptr;  // gets the number of tokens that the result is the mean of
    // Asked between batches and layers, done in [0, 1): false ends it.
    std::function<bool(double done)> progress = nullptr;
    // That share the batches, and have the same result, as one process would. Where progress() of one of them ends it,
    // all have *told_to_stop set.
    distributed::Processes* processes = nullptr;
    bool* told_to_stop = nullptr;
};

// Mean nats per token over `tokens`: windows of the context's length, or `length`, side by side, so that every token
// but the first is predicted once. The model is left in the mode that it was in. NaN when `progress` ended it. Throws
// BadInput for a text of less than 2 tokens.
double evaluate(models::Transformer<float>& model, data::TokenView tokens, const EvaluateOptions& options = {});

// Of examples: mean nats per token that is to be learned of them. max_tokens are those of whole rows; no stride.
double evaluate(models::Transformer<float>& model, const data::PackedExamples& rows,
                const EvaluateOptions& options = {});

// A batch's ids as arrays (B, T).
IdArray id_array(std::span<const std::int32_t> ids, std::size_t batch, std::size_t length);

}  // namespace inkling::train

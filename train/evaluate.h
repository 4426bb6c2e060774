// The loss of a model on text that it was not trained on.
//   const double nats = evaluate(model, tokens);
//   const double about = evaluate(model, tokens, {.max_tokens = 65536});
#pragma once

#include <functional>

#include "data/packing.h"
#include "data/token_view.h"
#include "distributed/processes.h"
#include "models/transformer.h"

namespace inkling::train {

struct EvaluateOptions {
    // Distance between the windows' first tokens. Each window counts the tokens that the one before did not reach, so
    // each token sees at least context - stride tokens, at context / stride times the cost. 0: the context's length.
    std::size_t stride = 0;
    std::size_t length = 0;          // of a window; 0: the model's context
    std::size_t max_tokens = 0;      // tokens to evaluate, in windows spread evenly over the text; 0: all
    std::size_t* counted = nullptr;  // receives the number of tokens in the mean
    // Called between batches and layers with done in [0, 1); returning false ends the evaluation.
    std::function<bool(double done)> progress = nullptr;
    // Processes that share the batches; the result is that of one process. If progress() of one ends the evaluation, it
    // sets *stop_requested in all.
    distributed::Processes& processes = distributed::alone();
    bool* stop_requested = nullptr;
};

// Mean nats per token over `tokens`, in adjacent windows of the context's length, or `length`, so that every token but
// the first is predicted once. Restores the model's mode. Returns NaN if `progress` ended it. Throws BadInput for a
// text of fewer than 2 tokens.
double evaluate(models::Transformer<float>& model, data::TokenView tokens, const EvaluateOptions& options = {});

// Mean nats per learned token of examples. max_tokens takes whole rows; stride does not apply.
double evaluate(models::Transformer<float>& model, const data::PackedExamples& rows,
                const EvaluateOptions& options = {});

}  // namespace inkling::train

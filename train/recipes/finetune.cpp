// The recipe "finetune" of `inkling train --init-from`: rows, batch, learning rate and steps for an existing model,
// from the text's size and the time.

#include <algorithm>
#include <cmath>

#include "engine/base/portable_math.h"
#include "models/parameters.h"
#include "train/recipes/fit.h"

namespace inkling::train {
namespace {

// Muon's rate for text, also for embeddings and head; answers to questions are learned at the rates of "fast".
constexpr double kTunedMuonRate = 0.003;
constexpr double kTunedRate = 0.15;         // AdamW's rate for the whole model, times 1 / width
constexpr double kTunedMuonCost = 1;        // an update's cost at most, relative to forward and backward
constexpr double kTunedAdapterRate = 0.75;  // AdamW's rate for adapters, times 1 / width
// Muon's rate for adapters, and for one of the head
constexpr double kAnswersAdapterRate = 0.02, kAnswersAdapterHeadRate = 0.001;
constexpr double kTunedStepsPerEpoch = 32;                     // a text is cut into at least this many batches
constexpr double kTunedMinBatch = 128, kTunedMaxBatch = 8192;  // tokens
constexpr std::size_t kTunedTextRow = 512, kTunedDocumentRow = 256;
// Evaluations cost this share of the training time; evaluating a token costs a third of training on it.
constexpr double kTunedEvalCost = 0.15, kTunedEvalToken = 1.0 / 3;
constexpr double kTunedEvalTokens = 4096;  // enough for one evaluation
constexpr double kTunedMaxEvaluations = 20, kTunedMinEvaluations = 5;
constexpr double kTunedPatience = 0.4;    // share of the evaluations
constexpr double kAnswersPatience = 0.8;  // a sudden improvement comes late

// Chooses the optimizer and its learning rates.
void fit_rates(const models::Architecture& model, bool answers, Config& c) {
    TrainOptions& o = c.options;
    const auto width = static_cast<double>(model.n_embd);
    // Newton-Schulz takes 20 C operations per parameter, forward and backward 6 per parameter and token
    const bool dear = 20 * width > 6 * kTunedMuonCost * static_cast<double>(o.tokens_per_step());
    const bool adapters = o.lora_rank > 0;
    if (dear || (adapters && answers))
        c.choose("optimizer", o.optimizer, dear ? OptimizerKind::adamw : OptimizerKind::muon);
    if (o.optimizer == OptimizerKind::adamw) {
        c.choose("learning-rate", o.learning_rate, (adapters ? kTunedAdapterRate : kTunedRate) / width);
        c.choose("embedding-lr", o.embedding_lr, 0);
        c.choose("head-lr", o.head_lr, 0);
    } else if (o.optimizer == OptimizerKind::muon && adapters) {
        c.choose("learning-rate", o.learning_rate, kAnswersAdapterRate);
        c.choose("head-lr", o.head_lr, kAnswersAdapterHeadRate);
    } else if (o.optimizer == OptimizerKind::muon) {
        if (!answers) c.choose("learning-rate", o.learning_rate, kTunedMuonRate);
        c.choose("embedding-lr", o.embedding_lr, answers ? o.embedding_lr * std::sqrt(128 / width) : 0);
        c.choose("head-lr", o.head_lr, answers ? o.head_lr * std::sqrt(128 / width) : 0);
    }
}

}  // namespace

void fit_tuning(const Budget& budget, const models::Architecture& model, Config& c) {
    TrainOptions& o = c.options;
    const double tokens = static_cast<double>(budget.tokens) * (1 - o.val_fraction);
    if (budget.longest_document > 0) {
        const std::size_t longest = (budget.longest_document + 15) / 16 * 16;
        c.choose("block-size", o.block_size, std::min(model.block_size, std::max(longest, kTunedDocumentRow)));
    } else {
        const auto row = static_cast<double>(std::min(model.block_size, kTunedTextRow));
        c.choose("block-size", o.block_size, std::clamp(tokens / 4, 1.0, row));
    }
    const double multiplied = static_cast<double>(models::multiplied_count(model));
    const double seen = std::min(budget.flops() / (6 * multiplied), max_epochs(budget, c) * tokens);
    const double batch = std::clamp(
        portable::exp2(std::round(portable::log2(std::max(1.0, std::min(tokens, seen) / kTunedStepsPerEpoch)))),
        kTunedMinBatch, kTunedMaxBatch);
    c.choose("batch-size", o.batch_size, whole_parts(batch / static_cast<double>(o.block_size), o.shards));
    fit_rates(model, budget.answers, c);
}

void fit_tuning_to_steps(const Budget& budget, Config& c) {
    TrainOptions& o = c.options;
    // as many evaluations of enough tokens as the cost allows
    const double val = static_cast<double>(budget.tokens) * o.val_fraction;
    const double tokens =
        kTunedEvalCost / kTunedEvalToken * static_cast<double>(o.max_iters) * static_cast<double>(o.tokens_per_step());
    const double evaluations =
        std::clamp(tokens / std::max(1.0, std::min(val, kTunedEvalTokens)), kTunedMinEvaluations, kTunedMaxEvaluations);
    fit_intervals(evaluations, c);
    const double each = tokens / evaluations;
    c.choose("eval-iters", o.eval_iters, each >= val ? 0 : std::ceil(each / static_cast<double>(o.tokens_per_step())));
    c.choose("patience", o.patience, std::ceil((budget.answers ? kAnswersPatience : kTunedPatience) * evaluations));
}

}  // namespace inkling::train

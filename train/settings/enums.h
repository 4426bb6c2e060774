// Choices of a run by name: --optimizer, --muon-scale, --ns-coefficients, --schedule, --chat-template; what a recipe
// fits; and the reasons for a run's end.
#pragma once

#include "engine/base/names.h"

namespace inkling::train {

enum class OptimizerKind { adamw, muon, sgd };

constexpr auto names(OptimizerKind) {
    return name_table<OptimizerKind>(
        {{OptimizerKind::adamw, "adamw"}, {OptimizerKind::muon, "muon"}, {OptimizerKind::sgd, "sgd"}});
}

// The factor of Muon's orthogonal update of R rows and C columns.
enum class MuonScale {
    adamw,     // .2 sqrt(max(R, C)): as long as AdamW's, so AdamW's learning rate fits (Liu et al. 2025, Moonlight)
    original,  // sqrt(max(1, R / C)); learning rates of about .02
    rows,      // as original, with rows scaled to equal length
};

constexpr auto names(MuonScale) {
    return name_table<MuonScale>(
        {{MuonScale::adamw, "adamw"}, {MuonScale::original, "original"}, {MuonScale::rows, "rows"}});
}

// The polynomials of the Newton-Schulz steps: train/optimizers/newton_schulz.h.
enum class NewtonSchulz { original, polar_express };

constexpr auto names(NewtonSchulz) {
    return name_table<NewtonSchulz>(
        {{NewtonSchulz::original, "original"}, {NewtonSchulz::polar_express, "polar-express"}});
}

enum class ScheduleKind { constant, cosine, linear, wsd };

constexpr auto names(ScheduleKind) {
    return name_table<ScheduleKind>({{ScheduleKind::constant, "constant"},
                                     {ScheduleKind::cosine, "cosine"},
                                     {ScheduleKind::linear, "linear"},
                                     {ScheduleKind::wsd, "wsd"}});
}

// The chat template for a model without one. as_needed: ChatML if it learns conversations.
enum class ChatForm { as_needed, chatml };

constexpr auto names(ChatForm) {
    return name_table<ChatForm>({{ChatForm::as_needed, "auto"}, {ChatForm::chatml, "chatml"}});
}

// What a recipe chooses for the text, the time and the machine: nothing; batch, dropout, rates and steps of the run;
// and the model's shape; or what suits a model that exists.
enum class Fits { nothing, run, shape, model };

// Why a run ended; interrupted: on request.
enum class StopReason { none, max_iters, max_time, patience, interrupted };

constexpr auto names(StopReason) {
    return name_table<StopReason>({{StopReason::none, "none"},
                                   {StopReason::max_iters, "max_iters"},
                                   {StopReason::max_time, "max_time"},
                                   {StopReason::patience, "patience"},
                                   {StopReason::interrupted, "interrupted"}});
}

}  // namespace inkling::train

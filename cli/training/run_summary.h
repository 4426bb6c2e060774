// What a run says when it has ended: how good its best model is, why it stopped, how that model writes, what to do
// next.
#pragma once

#include <string>

#include "cli/training/progress.h"
#include "train/callbacks.h"
#include "train/loop.h"
#include "train/run/run_card.h"

namespace inkling::cli {

// `seconds`: wall clock of the command. `sha256`: of the weights of the newest checkpoint. The sample is of the best
// model of the run.
void tell_ending(Report& report, train::TrainingLoop& loop, const data::Tokenizer& tokenizer,
                 const train::RunCard& card, double seconds, const std::string& sha256,
                 const train::SampleWriter::Take& take_sample);

}  // namespace inkling::cli

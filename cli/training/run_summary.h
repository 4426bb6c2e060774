// Prints the end of a run: its best loss, why it stopped, a sample of the best model, and the next command.
#pragma once

#include <string>

#include "cli/training/progress.h"
#include "train/callbacks.h"
#include "train/loop.h"
#include "train/run/run_card.h"

namespace inkling::cli {

// `seconds`: wall clock of the command. `sha256`: of the weights of the newest checkpoint. The best model of the run
// writes the sample.
void tell_ending(Report& report, train::TrainingLoop& loop, const data::Tokenizer& tokenizer,
                 const train::RunCard& card, double seconds, const std::string& sha256,
                 const train::SampleWriter::Take& take_sample);

}  // namespace inkling::cli

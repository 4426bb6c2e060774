// Prints the result of a run, after its last step.
#pragma once

#include <string>

#include "cli/training/progress.h"
#include "train/callbacks.h"
#include "train/run/run_metadata.h"

namespace inkling::cli {

// Prints the end of a run: its best loss, why it stopped, a sample of the best model, and the next command.
// `seconds`: wall clock of the command. `sha256`: of the weights of the newest checkpoint. The best model of the run
// writes the sample.
void print_summary(Report& report, train::TrainingLoop& loop, const data::Tokenizer& tokenizer,
                   const train::RunMetadata& metadata, double seconds, const std::string& sha256,
                   const train::SampleWriter::Take& take_sample);

}  // namespace inkling::cli

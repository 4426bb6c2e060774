// Makes the tokenizer of a new run.
//   const auto tokenizer = make_tokenizer(options, corpus);
#pragma once

#include <memory>

#include "data/text/corpus.h"
#include "data/tokenizers/tokenizer.h"
#include "train/settings/options.h"

namespace inkling::train {

// Makes the tokenizer that --tokenizer names: reads a file or folder, or learns characters or byte pairs from the text.
// Throws BadInput if the file does not exist.
std::unique_ptr<data::Tokenizer> make_tokenizer(const TrainOptions& options, const data::Corpus& corpus);

}  // namespace inkling::train

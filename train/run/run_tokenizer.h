// The tokenizer that a run begins with.
//   const auto tokenizer = make_tokenizer(options, corpus);
#pragma once

#include <memory>

#include "data/corpus.h"
#include "data/tokenizers/tokenizer.h"
#include "train/settings/options.h"

namespace inkling::train {

// What --tokenizer names: a file or folder is read; characters and byte pairs are learned from the text. Throws
// BadInput when there is no such file.
std::unique_ptr<data::Tokenizer> make_tokenizer(const TrainOptions& options, const data::Corpus& corpus);

}  // namespace inkling::train

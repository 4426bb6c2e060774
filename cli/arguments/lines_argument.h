// The documents in lines of a run's --data (data/documents.h): what train, and train --dry-run, make of them.
//   if (corpus.lines) documents = encode_lines(corpus, tokenizer, options.loss_on, tokens);
//   tell_documents(documents, budget);
#pragma once

#include "data/corpus.h"
#include "data/encoded_corpus.h"
#include "data/packed_documents.h"
#include "data/tokenizers/tokenizer.h"
#include "train/loop.h"
#include "train/recipes/recipes.h"

namespace inkling::cli {

bool has_conversations(const data::Corpus& corpus);
// Whether a model without a chat template is to get one.
bool wants_chat(const train::TrainOptions& options, const data::Corpus& corpus);

// The ids of corpus.lines go to `ids`. Throws BadInput, naming file and line.
data::EncodedDocuments encode_lines(const data::Corpus& corpus, const data::Tokenizer& tokenizer, train::LossOn loss_on,
                                    data::EncodedCorpus& ids);

// What a recipe goes by.
void tell_documents(const data::EncodedDocuments& documents, train::Budget& budget);

// What became of the documents of a loop: "documents in 40 rows of 48 tokens, ...".
std::string documents_note(const train::TrainingLoop& loop);

}  // namespace inkling::cli

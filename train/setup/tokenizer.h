// Opens or makes the tokenizer of a run.
#pragma once

#include "data/text/corpus.h"
#include "models/files/folder.h"
#include "train/settings/settings.h"

namespace inkling::train {

// Opens the tokenizer of a new run into loaded.tokenizer; recipes choose it for the text. With --init-from it is that
// model's tokenizer, whether or not `loaded` holds the model; with --teacher, the first teacher's. To learn
// conversations, it gets ChatML's special tokens; returns whether they are new. With `learn` false, does not learn byte
// pairs, and loaded.tokenizer is null. Throws BadInput if the file that --tokenizer names does not exist.
bool open_tokenizer(const data::Corpus& corpus, Config& config, models::LoadedModel& loaded, bool learn = true);

// Makes the tokenizer refuse unknown characters if `strict`, else replace and count them.
void take_unknown(data::Tokenizer& tokenizer, bool strict);

}  // namespace inkling::train

// What a model lacks that is to learn conversations: ChatML, whose marks become tokens, and rows of its tables for
// them.
//   LoadedModel loaded = load_model(folder);
//   if (!loaded.tokenizer->chat) add_chat_tokens(loaded);
#pragma once

#include "models/files/folder.h"

namespace inkling::models {

// <|im_start|>ROLE\nCONTENT<|im_end|>\n for each message, as Jinja.
extern const char* const kChatMl;

// The tokenizer gets the template, and the marks that it has no tokens for. The tables of the model, if there is one,
// grow, and its new rows are the mean of the others; a text also ends where a message does. Throws BadInput for a
// tokenizer that cannot have marks.
void add_chat_tokens(LoadedModel& loaded);

}  // namespace inkling::models

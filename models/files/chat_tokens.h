// Prepares a model for learning conversations: adds ChatML, tokens for its marks, and their rows in the tables.
//   LoadedModel loaded = load_model(folder);
//   if (!loaded.tokenizer->chat) add_chat_tokens(loaded);
#pragma once

#include "models/files/folder.h"

namespace inkling::models {

// <|im_start|>ROLE\nCONTENT<|im_end|>\n for each message, as Jinja.
extern const char* const kChatMl;

// Adds the template and the missing marks to the tokenizer. The tables of `model`, unless it is null, grow; new rows
// are the mean of the others, and the end of a message also ends a text. Throws BadInput for a tokenizer without
// special tokens.
void add_chat_tokens(LoadedModel& loaded);

}  // namespace inkling::models

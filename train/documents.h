// Documents in lines (data/documents.h) as ids, with what is to be learned of them:
//   const auto encoded = encode_documents(*corpus.lines, tokenizer, &chat, LossOn::completions, place, tokens);
// A conversation is rendered by the chat template. A prompt and its completion, or a text, stand between the marks that
// the tokenizer puts around a text, or before the end-of-text token where it has none. What they say is text, also
// where it spells a special token.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/chat/chat_template.h"
#include "data/documents.h"
#include "data/encoded_corpus.h"
#include "data/packed_documents.h"
#include "train/enums.h"

namespace inkling::train {

// `chat`: null where the model has no chat template. `place`: of a document, for messages. The ids are appended. Throws
// BadInput, naming the place, for conversations without a template, those that it refuses, and those without an answer.
data::EncodedDocuments encode_documents(const std::vector<data::Document>& documents, const data::Tokenizer& tokenizer,
                                        const models::ChatTemplate* chat, LossOn loss_on,
                                        const std::function<std::string(const data::Document&)>& place,
                                        data::GrowingIds& ids);

}  // namespace inkling::train

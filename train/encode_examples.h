// A corpus as ids, and examples (data/documents.h) with what is to be learned of them:
//   const EncodedText text = encode_text(corpus, tokenizer, LossOn::completions, {.cache = options.out});
// A conversation is rendered by the chat template. A prompt and its completion, or a text, stand between the marks that
// the tokenizer puts around a text, or before the end-of-text token where it has none. What they say is text, also
// where it spells a special token.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/chat/chat_template.h"
#include "data/corpus.h"
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

// The ids of a text that a run is to learn. `documents`: where it is examples, whose ids these are.
struct EncodedText {
    data::EncodedCorpus tokens;
    std::optional<data::EncodedDocuments> documents;

    std::string fingerprint() const;  // as checkpoints have it
};

// `how` is for plain text: examples are not cached. Throws BadInput, naming file and line.
EncodedText encode_text(const data::Corpus& corpus, const data::Tokenizer& tokenizer, LossOn loss_on,
                        const data::EncodeOptions& how = {});

bool has_conversations(const data::Corpus& corpus);

}  // namespace inkling::train

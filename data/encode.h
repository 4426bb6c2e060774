// Encodes text: all documents of a corpus, or one example with a mask of its learned ids. dataset.h calls both.
// Each document is wrapped in the special tokens that the tokenizer adds to a text, such as Llama's begin-of-text. If
// the tokenizer adds none at the end, an end-of-text token separates two documents; without that token, a document that
// lacks a final newline gets one.
// The chat template renders a conversation. A prompt with its completion, or a text of a .jsonl file, is wrapped in the
// same tokens, or ends with the end-of-text token if the tokenizer adds none at the end. Special tokens that examples
// spell out are encoded as text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/chat/chat_template.h"
#include "data/text/corpus.h"
#include "data/text/examples.h"
#include "data/tokenizers/tokenizer.h"

namespace inkling::data {

using Progress = std::function<void(std::size_t done, std::size_t all)>;  // bytes of text

// Calls take(ids) part by part. Returns the bytes of text, with unknown characters replaced. Throws BadInput, naming
// the source, for a text that the tokenizer cannot encode. `special_tokens`: whether to add them around documents.
std::size_t encode_documents(const Corpus& corpus, const Tokenizer& tokenizer, bool special_tokens,
                             const Progress& progress, const std::function<void(std::span<const std::int32_t>)>& take);

struct EncodedExample {
    std::vector<std::int32_t> ids = {};
    std::vector<std::uint8_t> learn = {};  // per id: whether it is a target
};

// `chat`: null without a chat template. Throws BadInput for a conversation without a template, one that the template
// refuses, and one without an answer.
EncodedExample encode_example(const Example& example, const Tokenizer& tokenizer, const ChatTemplate* chat,
                              LossOn loss_on);

}  // namespace inkling::data

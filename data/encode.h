// Text to ids: the documents of a corpus one after the other, or one example with what is learned of it. dataset.h puts
// them together.
// Each document stands between the marks that the tokenizer puts around a text (Llama's begin-of-text token, say), and
// between two, if none are put behind one, the end-of-text token; if there is none of these, a document whose last line
// has no newline is followed by one.
// A conversation is rendered by the chat template. A prompt and its completion, or a text of a .jsonl file, stand
// between the marks, or before the end-of-text token where the tokenizer has none. What they say is text, also where it
// spells a special token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/chat/chat_template.h"
#include "data/corpus.h"
#include "data/examples.h"
#include "data/tokenizers/tokenizer.h"
#include "engine/base/names.h"

namespace inkling::data {

// What is learned of conversations, and of prompts with a completion: answers alone, or all.
enum class LossOn { completions, all };

constexpr auto names(LossOn) {
    return name_table<LossOn>({{LossOn::completions, "completions"}, {LossOn::all, "all"}});
}

using Progress = std::function<void(std::size_t done, std::size_t all)>;  // bytes of text

// Calls take(ids) part by part. Returns the bytes of text, as it is with unknown characters replaced. Throws BadInput,
// naming the source, for a text that the tokenizer cannot write. `marks`: whether they are put around documents.
std::size_t encode_documents(const Corpus& corpus, const Tokenizer& tokenizer, bool marks, const Progress& progress,
                             const std::function<void(std::span<const std::int32_t>)>& take);

struct EncodedExample {
    std::vector<std::int32_t> ids = {};
    std::vector<std::uint8_t> learn = {};  // of each id: whether it is predicted
};

// `chat`: null where the model has no chat template. Throws BadInput for a conversation without a template, one that
// the template refuses, and one without an answer.
EncodedExample encode_example(const Example& example, const Tokenizer& tokenizer, const models::ChatTemplate* chat,
                              LossOn loss_on);

}  // namespace inkling::data

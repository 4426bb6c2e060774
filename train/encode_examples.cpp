#include "train/encode_examples.h"

#include <algorithm>

#include "formats/named.h"
#include "train/run/checkpoint.h"

namespace inkling::train {
namespace {

// The ids of a document, one by one marked as to be learned or not.
struct Encoder {
    const data::Tokenizer& tokenizer;
    const models::ChatTemplate* chat;
    const bool all;  // is to be learned
    std::vector<std::int32_t> ids = {};
    std::vector<std::uint8_t> learn = {};

    void add(std::span<const std::int32_t> some, bool learned) {
        ids.insert(ids.end(), some.begin(), some.end());
        learn.insert(learn.end(), some.size(), learned || all);
    }
    void add_text(std::string_view text, bool begins, bool learned) {
        tokenizer.encode_plain_parts(
            text, [&](std::span<const std::int32_t> some, std::size_t) { add(some, learned); }, begins);
    }
    void add_conversation(const data::Document& d) {
        check<BadInput>(chat != nullptr, "conversations need a chat template, and the model has none");
        check<BadInput>(!all || !d.marked,
                        "a message is marked not to be learned, and --loss-on all learns all: leave out one of them");
        const models::ChatIds found = chat->apply(d.parts, tokenizer);
        ids = found.ids;
        for (const bool answer : found.answer) learn.push_back(answer || all);
        check<BadInput>(std::count(learn.begin(), learn.end(), 1) > 0,
                        "it has no message of the assistant that is learned");
    }
    // Of the parts, the last is learned.
    void add_parts(const std::vector<data::ChatMessage>& parts) {
        add(tokenizer.marks_before(), false);
        for (const data::ChatMessage& part : parts) add_text(part.content, &part == &parts[0], &part == &parts.back());
        const std::vector<std::int32_t> after = tokenizer.marks_after();
        add(after, true);
        if (const auto end = tokenizer.end_of_text(); end && after.empty()) add(std::span(&*end, 1), true);
    }
};

}  // namespace

data::EncodedDocuments encode_documents(const std::vector<data::Document>& documents, const data::Tokenizer& tokenizer,
                                        const models::ChatTemplate* chat, LossOn loss_on,
                                        const std::function<std::string(const data::Document&)>& place,
                                        data::GrowingIds& ids) {
    data::EncodedDocuments encoded;
    std::size_t n = 0;
    for (const data::Document& d : documents) {
        Encoder encoder{tokenizer, chat, loss_on == LossOn::all || d.shape == data::DocumentShape::text};
        try {
            d.shape == data::DocumentShape::messages ? encoder.add_conversation(d) : encoder.add_parts(d.parts);
        } catch (const BadInput& e) {
            throw BadInput(fmt::format("{}: {}", place(d), e.what()));
        }
        ids.append(encoder.ids);
        encoded.learn.insert(encoded.learn.end(), encoder.learn.begin(), encoder.learn.end());
        encoded.ends.push_back(n += encoder.ids.size());
    }
    return encoded;
}

std::string EncodedText::fingerprint() const {
    return train::fingerprint(tokens.ids, documents ? &*documents : nullptr);
}

EncodedText encode_text(const data::Corpus& corpus, const data::Tokenizer& tokenizer, LossOn loss_on,
                        const data::EncodeOptions& how) {
    EncodedText text;
    if (!corpus.lines) {
        text.tokens = data::encode_corpus(tokenizer, corpus.documents, how);
        return text;
    }
    std::optional<models::ChatTemplate> chat;
    if (tokenizer.chat) chat = models::ChatTemplate::of(tokenizer);
    text.tokens.owned = data::GrowingIds(tokenizer.vocab_size());
    const auto place = [&](const data::Document& d) { return corpus.place_of(d); };
    text.documents =
        encode_documents(*corpus.lines, tokenizer, chat ? &*chat : nullptr, loss_on, place, text.tokens.owned);
    text.tokens.ids = text.tokens.owned.ids();
    text.tokens.bytes = corpus.bytes();
    return text;
}

bool has_conversations(const data::Corpus& corpus) {
    const auto talks = [](const data::Document& d) { return d.shape == data::DocumentShape::messages; };
    return corpus.lines && std::any_of(corpus.lines->begin(), corpus.lines->end(), talks);
}

}  // namespace inkling::train

#include "train/documents.h"

#include <algorithm>

#include "formats/named.h"

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

}  // namespace inkling::train

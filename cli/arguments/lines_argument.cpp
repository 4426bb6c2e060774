#include "cli/arguments/lines_argument.h"

#include <algorithm>
#include <optional>

#include "cli/common.h"
#include "data/chat/chat_template.h"
#include "train/documents.h"

namespace inkling::cli {

bool has_conversations(const data::Corpus& corpus) {
    const auto talks = [](const data::Document& d) { return d.shape == data::DocumentShape::messages; };
    return corpus.lines && std::any_of(corpus.lines->begin(), corpus.lines->end(), talks);
}

bool wants_chat(const train::TrainOptions& options, const data::Corpus& corpus) {
    return options.chat_template == train::ChatForm::chatml || has_conversations(corpus);
}

data::EncodedDocuments encode_lines(const data::Corpus& corpus, const data::Tokenizer& tokenizer, train::LossOn loss_on,
                                    data::EncodedCorpus& tokens) {
    std::optional<models::ChatTemplate> chat;
    if (tokenizer.chat) chat = models::ChatTemplate::of(tokenizer);
    tokens = {};
    tokens.owned = data::GrowingIds(tokenizer.vocab_size());
    const auto place = [&](const data::Document& d) { return corpus.place_of(d); };
    data::EncodedDocuments documents =
        train::encode_documents(*corpus.lines, tokenizer, chat ? &*chat : nullptr, loss_on, place, tokens.owned);
    tokens.ids = tokens.owned.ids();
    tokens.bytes = corpus.bytes();
    return documents;
}

void tell_documents(const data::EncodedDocuments& documents, train::Budget& budget) {
    for (std::size_t d = 0; d < documents.size(); ++d)
        budget.longest_document = std::max(budget.longest_document, documents.ends[d] - documents.begin(d));
    budget.answers = std::find(documents.learn.begin(), documents.learn.end(), 0) != documents.learn.end();
}

std::string documents_note(const train::TrainingLoop& loop) {
    const auto add = [&](std::size_t (data::PackedDocuments::*what)() const) {
        return (loop.documents()->*what)() + (loop.val_documents() ? (loop.val_documents()->*what)() : 0);
    };
    const std::size_t cut = add(&data::PackedDocuments::cut), left_out = add(&data::PackedDocuments::left_out);
    std::string text = fmt::format(
        "documents in {} of {}, {} for validation; {} to learn", counted(add(&data::PackedDocuments::size), "row"),
        counted(loop.options().block_size, "token"), loop.val_documents() ? loop.val_documents()->size() : 0,
        counted(add(&data::PackedDocuments::targets), "token"));
    if (cut > 0) text += fmt::format("; {} longer than a row: the rest is left out", counted(cut, "document"));
    if (left_out > 0) text += fmt::format("; {} without anything to learn", counted(left_out, "document"));
    return text;
}

}  // namespace inkling::cli

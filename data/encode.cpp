#include "data/encode.h"

#include <algorithm>

#include "data/tokenizers/unknown_characters.h"
#include "engine/base/check.h"
#include "formats/named.h"

namespace inkling::data {
namespace {

// The bytes by which unknown characters have changed the text so far.
std::ptrdiff_t growth_of(const Tokenizer& tokenizer) {
    return tokenizer.unknown ? tokenizer.unknown->tally().growth : 0;
}

}  // namespace

std::size_t encode_documents(const Corpus& corpus, const Tokenizer& tokenizer, bool special_tokens,
                             const Progress& progress, const std::function<void(std::span<const std::int32_t>)>& take) {
    constexpr std::size_t report_interval = 16 << 20;  // bytes of text
    const std::vector<std::string_view>& documents = corpus.documents;
    const std::size_t all = corpus.bytes();
    std::size_t done = 0, reported = 0, added = 0;
    const std::ptrdiff_t growth_before = growth_of(tokenizer);
    std::vector<std::int32_t> before, after;
    if (special_tokens) before = tokenizer.tokens_before(), after = tokenizer.tokens_after();
    const auto end = tokenizer.end_of_text();
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::string_view text = documents[i];
        if (i > 0 && end && after.empty()) take(std::span(&*end, 1));
        take(before);
        formats::named(corpus.source_of(i), [&] {
            tokenizer.encode_parts(text, [&](std::span<const std::int32_t> ids, std::size_t upto) {
                take(ids);
                if (!progress || (done + upto < reported + report_interval && done + upto < all)) return;
                reported = done + upto;
                progress(reported, all);
            });
        });
        done += text.size();
        take(after);
        const bool open_line = i + 1 < documents.size() && !text.empty() && text.back() != '\n';
        if (open_line && !end && before.empty() && after.empty()) {
            take(tokenizer.encode("\n"));
            ++added;
        }
    }
    return done + added + static_cast<std::size_t>(growth_of(tokenizer) - growth_before);
}

EncodedExample encode_example(const Example& example, const Tokenizer& tokenizer, const ChatTemplate* chat,
                              LossOn loss_on) {
    const bool all = loss_on == LossOn::all || example.shape == ExampleShape::text;  // is learned
    EncodedExample done;
    if (example.shape == ExampleShape::messages) {
        check<BadInput>(chat != nullptr, "conversations need a chat template, and the model has none");
        check<BadInput>(!all || !example.marked,
                        "a message is marked not to be learned, and --loss-on all learns all: leave out one of them");
        ChatIds found = chat->apply(example.parts, tokenizer);
        done.ids = std::move(found.ids);
        for (const bool answer : found.answer) done.learn.push_back(answer || all);
        check<BadInput>(std::count(done.learn.begin(), done.learn.end(), 1) > 0,
                        "it has no message of the assistant that is learned");
        return done;
    }
    const auto add = [&](std::span<const std::int32_t> some, bool learned) {
        done.ids.insert(done.ids.end(), some.begin(), some.end());
        done.learn.insert(done.learn.end(), some.size(), learned || all);
    };
    add(tokenizer.tokens_before(), false);
    for (const ChatMessage& part : example.parts) {  // only the last is learned
        const bool first = &part == &example.parts[0], last = &part == &example.parts.back();
        tokenizer.encode_plain_parts(
            part.content, [&](auto ids, std::size_t) { add(ids, last); }, first);
    }
    const std::vector<std::int32_t> after = tokenizer.tokens_after();
    add(after, true);
    if (const auto end = tokenizer.end_of_text(); end && after.empty()) add(std::span(&*end, 1), true);
    return done;
}

}  // namespace inkling::data

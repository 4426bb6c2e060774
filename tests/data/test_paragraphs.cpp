#include "data/paragraphs.h"

#include <map>
#include <set>

#include "data/dataset.h"
#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/data/corpus.h"
#include "tests/data/windows.h"
#include "tests/support/pieces.h"

using namespace inkling;
using namespace inkling::data;
using namespace inkling::testing;

namespace {

// The text with a bar before each token that begins a paragraph.
std::string marked(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
    const Paragraphs paragraphs(tokenizer);
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (paragraphs.begins(ids, i)) text += '|';
        text += tokenizer.decode(ids.subspan(i, 1));
    }
    return text;
}

std::string marked_letters(const std::string& text) {
    const CharTokenizer tokenizer = CharTokenizer::from_text(text);
    return marked(tokenizer, tokenizer.encode(text));
}

}  // namespace

TEST_CASE("paragraphs: begin at the text's beginning and after a blank line", "[data]") {
    CHECK(marked_letters("ab\nc\n\nd\n\ne") == "|ab\nc\n\n|d\n\n|e");
    CHECK(marked_letters("a\r\nb\r\n\r\nc\rd") == "|a\r\nb\r\n\r\n|c\rd");
    CHECK(marked_letters("a\n\n\nb") == "|a\n\n|\n|b");
    CHECK(marked_letters("a\n \nb") == "|a\n \nb");  // not blank, as Markdown has it: too rare to look for
    CHECK(marked_letters("\na") == "|\n|a");         // the first line is blank
}

TEST_CASE("paragraphs: whatever tokens a blank line is made of, and after an end of text", "[data]") {
    const Pieces words({"a", "\n", "\n\n", ".\n", "", "\r", " \r\n\r\n", "b\n\n", "<end>"}, 8);
    const auto begins = [&](std::vector<std::int32_t> ids) { return Paragraphs(words).begins(ids, ids.size() - 1); };
    CHECK(begins({0}));
    CHECK(begins({0, 2, 0}));
    CHECK(begins({3, 1, 0}));
    CHECK(begins({0, 1, 1, 0}));
    CHECK(begins({3, 4, 1, 0}));  // a token without text is no matter
    CHECK(begins({3, 5, 1, 0}));
    CHECK(begins({6, 0}));
    CHECK(begins({7, 0}));
    CHECK(begins({0, 8, 0}));
    CHECK_FALSE(begins({0, 0}));
    CHECK_FALSE(begins({0, 1, 0}));
    CHECK_FALSE(begins({3, 0}));
    CHECK_FALSE(begins({3, 5, 0}));
    CHECK_FALSE(begins({1, 0, 1, 0}));

    const std::vector<std::string_view> documents = {"one\n", "two\n\nThe end."};
    const BpeTokenizer bpe(train_bpe(documents, 300));
    const Dataset dataset = make_dataset(corpus_of(documents), bpe);
    CHECK(marked(bpe, std::vector<std::int32_t>(dataset.ids.begin(), dataset.ids.end())) ==
          "|one\n<|endoftext|>|two\n\n|The end.");
}

TEST_CASE("sampler paragraphs: windows begin where a paragraph does", "[data]") {
    const auto ids = positions(100);  // of which 9, 39 and 69 end a paragraph
    std::vector<std::string> words(ids.size(), "a");
    words[9] = words[39] = words[69] = "\n\n";
    const Pieces tokenizer(words);
    const auto all = starts(*make_sampler(SamplerKind::paragraphs, ids, 4, 30, 1, &tokenizer), 2000);
    std::map<std::size_t, int> count;
    for (const std::size_t start : all) ++count[start];
    // of 70 possible starts, 10 belong to the first paragraph and 30 to each of the others
    REQUIRE(count.size() == 3);
    CHECK(std::abs(count[0] - 8000 * 10 / 70) < 160);  // 5 standard deviations
    CHECK(std::abs(count[10] - 8000 * 30 / 70) < 220);
    CHECK(std::abs(count[40] - 8000 * 30 / 70) < 220);
}

TEST_CASE("sampler paragraphs: all of a paragraph longer than the window is seen", "[data]") {
    const auto ids = positions(100);
    std::vector<std::string> words(ids.size(), "a");
    words[49] = "\n\n";
    const Pieces tokenizer(words);
    std::set<std::size_t> found;
    for (const std::size_t start : starts(*make_sampler(SamplerKind::paragraphs, ids, 4, 8, 1, &tokenizer), 2000))
        found.insert(start);
    std::set<std::size_t> expected = {0, 50};
    for (std::size_t i = 8; i < 50; ++i) expected.insert(i);
    for (std::size_t i = 58; i < 92; ++i) expected.insert(i);
    CHECK(found == expected);

    // without a blank line the windows are those of the sampler `random`
    const Pieces plain(std::vector<std::string>(100, "a"));
    auto random = starts(*make_sampler(SamplerKind::random, ids, 4, 8, 1), 100);
    for (std::size_t& start : random) start = start < 8 ? 0 : start;  // the text's beginning is a paragraph's
    CHECK(starts(*make_sampler(SamplerKind::paragraphs, ids, 4, 8, 1, &plain), 100) == random);
    CHECK(starts(*make_sampler(SamplerKind::paragraphs, ids, 4, 8, 2, &plain), 100) != random);
    CHECK_THROWS_WITH(make_sampler(SamplerKind::paragraphs, ids, 4, 8, 1), contains("tokenizer"));
    CHECK_THROWS_AS(make_sampler(SamplerKind::paragraphs, std::span(ids).first(8), 4, 8, 1, &plain), BadInput);
}

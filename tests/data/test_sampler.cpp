#include "data/sampler.h"

#include "data/dataset.h"
#include "data/permutation.h"
#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "tests/data/corpus.h"
#include "tests/data/shakespeare.h"
#include "tests/support/pieces.h"

// The starts of the windows of steps [0, steps), in order, for tokens that are positions().
static std::vector<std::size_t> starts(const Sampler& sampler, std::uint64_t steps) {
    std::vector<std::size_t> all;
    Batch batch;
    for (std::uint64_t step = 0; step < steps; ++step) {
        sampler.fill(step, batch);
        for (std::size_t b = 0; b < batch.inputs.dim(0); ++b)
            all.push_back(static_cast<std::size_t>(batch.inputs(b, 0)));
    }
    return all;
}

// 0, 1, 2, ...: each token's value is its position.
static std::vector<std::int32_t> positions(std::size_t n) {
    std::vector<std::int32_t> tokens(n);
    for (std::size_t i = 0; i < n; ++i) tokens[i] = static_cast<std::int32_t>(i);
    return tokens;
}

// The text with a bar before each token that begins a paragraph.
static std::string marked(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
    const Paragraphs paragraphs(tokenizer);
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (paragraphs.begins(ids, i)) text += '|';
        text += tokenizer.decode(ids.subspan(i, 1));
    }
    return text;
}

static std::string marked_letters(const std::string& text) {
    const CharTokenizer tokenizer = CharTokenizer::from_text(text);
    return marked(tokenizer, tokenizer.encode(text));
}

TEST_CASE("sampler: rows are windows, targets are one further, sequential ones follow each other", "[data]") {
    const SamplerKind kind = GENERATE(SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential);
    CAPTURE(name_of(kind));
    const auto tokens = positions(101);
    const auto sampler = make_sampler(kind, tokens, 3, 8, 1);
    Batch batch;
    for (std::uint64_t step : {0, 1, 7, 1000}) {
        sampler->fill(step, batch);
        REQUIRE(batch.inputs.shape() == Shape{3, 8});
        REQUIRE(batch.targets.shape() == Shape{3, 8});
        const std::int32_t *const inputs = batch.inputs.data(), *const targets = batch.targets.data();
        for (std::size_t i = 0; i < 24; ++i) {
            CHECK_ALL(targets[i] == inputs[i] + 1, inputs[i] == inputs[i / 8 * 8] + static_cast<int>(i % 8));
            CHECK(targets[i] <= 100);
        }
    }
    const auto few = positions(33);  // 4 windows of 8
    const auto all = starts(*make_sampler(SamplerKind::sequential, few, 3, 8, 0), 4);
    CHECK(all == std::vector<std::size_t>{0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24});
    const auto one_less = starts(*make_sampler(SamplerKind::sequential, std::span(few).first(32), 3, 8, 0), 2);
    CHECK(one_less == std::vector<std::size_t>{0, 8, 16, 0, 8, 16});
}

TEST_CASE("sampler: any step in any order is the same, and buffers are kept", "[data]") {
    const SamplerKind kind = GENERATE(SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential);
    CAPTURE(name_of(kind));
    const auto tokens = positions(500);
    const auto a = make_sampler(kind, tokens, 4, 16, 42), b = make_sampler(kind, tokens, 4, 16, 42);
    Batch forward, single;
    a->fill(0, forward);
    const auto* buffer = forward.inputs.data();
    for (std::uint64_t step = 1; step < 40; ++step) a->fill(step, forward);
    CHECK(forward.inputs.data() == buffer);
    b->fill(39, single);
    CHECK_ALL((single.inputs == forward.inputs), (single.targets == forward.targets));
}

TEST_CASE("sampler: the seed matters where there is chance, and starts are uniform", "[data]") {
    const auto tokens = positions(500);
    const auto first = [&](SamplerKind kind, std::uint64_t seed) {
        return starts(*make_sampler(kind, tokens, 4, 16, seed), 3);
    };
    CHECK(first(SamplerKind::random, 1) != first(SamplerKind::random, 2));
    CHECK(first(SamplerKind::shuffle, 1) != first(SamplerKind::shuffle, 2));
    CHECK(first(SamplerKind::sequential, 1) == first(SamplerKind::sequential, 2));
    const auto thirty = positions(30);  // starts are uniform over all of 0 to N - T - 1
    std::map<std::size_t, int> count;
    for (std::size_t s : starts(*make_sampler(SamplerKind::random, thirty, 10, 20, 5), 10'000)) ++count[s];
    CHECK_ALL(count.size() == 10, count.rbegin()->first == 9);
    for (const auto& [start, n] : count) CHECK(std::abs(n - 10'000) < 500);  // 5 standard deviations
}

TEST_CASE("sampler shuffle: every window once an epoch, each epoch in another order and cut elsewhere", "[data]") {
    const auto tokens = positions(213);  // 26 windows of 8, of which an epoch has 25, and 4 tokens to spare
    const std::size_t windows = 25, epochs = 200;
    const auto all =
        starts(*make_sampler(SamplerKind::shuffle, tokens, 4, 8, 3), 1250);  // batches cross the epochs' borders
    std::set<std::vector<std::size_t>> orders;
    std::set<std::size_t> offsets;
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
        std::vector<std::size_t> order(all.begin() + static_cast<std::ptrdiff_t>(epoch * windows),
                                       all.begin() + static_cast<std::ptrdiff_t>((epoch + 1) * windows));
        const std::size_t offset = *std::min_element(order.begin(), order.end());
        offsets.insert(offset);
        std::set<std::size_t> seen;
        for (std::size_t& s : order) {
            CHECK((s - offset) % 8 == 0);
            s = (s - offset) / 8;
            CHECK(s < windows);
            seen.insert(s);
        }
        CHECK(seen.size() == windows);
        orders.insert(order);
    }
    CHECK_ALL(orders.size() == epochs, *offsets.rbegin() == 12, offsets.size() == 13);
    const auto one_window = positions(9);
    CHECK(starts(*make_sampler(SamplerKind::shuffle, one_window, 2, 8, 3), 1) == std::vector<std::size_t>{0, 0});
}

TEST_CASE("sampler: the shortest text that is enough, and errors say what to do", "[data]") {
    const SamplerKind kind = GENERATE(SamplerKind::random, SamplerKind::shuffle, SamplerKind::sequential);
    CAPTURE(name_of(kind));
    const auto tokens = positions(9);
    CHECK(starts(*make_sampler(kind, tokens, 2, 8, 1), 2) == std::vector<std::size_t>(4, 0));
    CHECK_THROWS_AS(make_sampler(kind, std::span(tokens).first(8), 2, 8, 1), BadInput);
    CHECK_THROWS_AS(make_sampler(kind, std::span(tokens).first(0), 2, 8, 1), BadInput);
    const auto twelve = positions(12);  // errors say what to do
    CHECK_THROWS_WITH(
        make_sampler(SamplerKind::random, twelve, 2, 64, 1),
        contains("the text to train on has 12 tokens, the context of 64 needs at least 65: lower --block-size"));
    CHECK_THROWS_WITH(named<SamplerKind>("--sampler", "chance"),
                      "--sampler must be one of paragraphs, random, sequential, shuffle, got 'chance'");
    CHECK_THROWS_AS(make_sampler(SamplerKind::random, twelve, 0, 8, 1), Error);
    CHECK_THROWS_AS(make_sampler(SamplerKind::random, twelve, 2, 0, 1), Error);
}

TEST_CASE("permute: one to one at every size, and every place gets every number equally often", "[data]") {
    for (std::uint64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 4097}) {
        std::vector<bool> seen(n);
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t p = permute({7, 1}, i, n);
            REQUIRE(p < n);
            CHECK_FALSE(seen[p]);
            seen[p] = true;
        }
    }
    CHECK(permute({7, 1}, (1ull << 40) + 2, (1ull << 40) + 3) < (1ull << 40) + 3);
    constexpr std::uint64_t n = 6, keys = 12'000;  // every place gets every number equally often
    int count[n][n] = {};
    for (std::uint64_t key = 0; key < keys; ++key)
        for (std::uint64_t i = 0; i < n; ++i) ++count[i][permute({1, key}, i, n)];
    for (const auto& row : count)
        for (int c : row) CHECK(std::abs(c - 2000) < 220);  // over 5 standard deviations
}

TEST_CASE("split_tokens: the last part validates, of fractions from 0 up to 1", "[data]") {
    std::vector<std::int32_t> tokens(10);
    std::iota(tokens.begin(), tokens.end(), 0);
    const auto [train, val] = split_tokens(tokens, 0.25);
    CHECK(train.copy() == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
    CHECK(val.copy() == std::vector<std::int32_t>{7, 8, 9});
    CHECK(train.data() == tokens.data());
    const std::vector<std::int32_t> shakespeare(1'115'394);  // the sizes of nanoGPT
    CHECK(split_tokens(shakespeare, 0.1).train.size() == 1'003'854);
    CHECK_ALL(split_tokens(shakespeare, 0.1).val.size() == 111'540, split_tokens(shakespeare, 0).val.empty());
    CHECK_ALL(split_tokens(std::span(shakespeare).first(10), 0.1).val.size() == 1, split_tokens({}, 0.1).train.empty());
    const std::string text = testing::shakespeare();
    CHECK(split_tokens(std::vector<std::int32_t>(text.size()), 0.1).train.size() == 1'003'854);  // tiny Shakespeare
    const std::vector<std::int32_t> ten(10);  // fractions below 0 and from 1 on are refused
    CHECK_THROWS_WITH(split_tokens(ten, 1), contains("in [0, 1), got 1"));
    CHECK_THROWS_AS(split_tokens(ten, -0.1), Error);
    CHECK_THROWS_AS(split_tokens(ten, std::nan("")), Error);
}

TEST_CASE("paragraphs: begin with the text, after blank lines of any tokens, after an end of text", "[data]") {
    CHECK(marked_letters("ab\nc\n\nd\n\ne") == "|ab\nc\n\n|d\n\n|e");
    CHECK(marked_letters("a\r\nb\r\n\r\nc\rd") == "|a\r\nb\r\n\r\n|c\rd");
    CHECK(marked_letters("a\n\n\nb") == "|a\n\n|\n|b");
    CHECK(marked_letters("a\n \nb") == "|a\n \nb");  // not blank, as Markdown has it: too rare to look for
    CHECK(marked_letters("\na") == "|\n|a");         // the first line is blank
    const Pieces words({"a", "\n", "\n\n", ".\n", "", "\r", " \r\n\r\n", "b\n\n", "<end>"}, 8);
    const auto begins = [&](std::vector<std::int32_t> ids) { return Paragraphs(words).begins(ids, ids.size() - 1); };
    CHECK_ALL(begins({0}), begins({0, 2, 0}), begins({3, 1, 0}), begins({0, 1, 1, 0}));
    CHECK(begins({3, 4, 1, 0}));  // a token without text is no matter
    CHECK_ALL(begins({3, 5, 1, 0}), begins({6, 0}), begins({7, 0}), begins({0, 8, 0}), !begins({0, 0}));
    CHECK_ALL(!begins({0, 1, 0}), !begins({3, 0}), !begins({3, 5, 0}), !begins({1, 0, 1, 0}));

    const std::vector<std::string_view> documents = {"one\n", "two\n\nThe end."};
    const BpeTokenizer bpe(train_bpe(documents, 300));
    const Dataset dataset = make_dataset(corpus_of(documents), bpe);
    CHECK(marked(bpe, dataset.ids.copy()) == "|one\n<|endoftext|>|two\n\n|The end.");
}

TEST_CASE("sampler paragraphs: windows begin where a paragraph does, and long ones are seen whole", "[data]") {
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
    CHECK_ALL(std::abs(count[10] - 8000 * 30 / 70) < 220, std::abs(count[40] - 8000 * 30 / 70) < 220);
    const auto longer = positions(100);
    std::vector<std::string> more_words(longer.size(), "a");
    more_words[49] = "\n\n";
    const Pieces more_tokens(more_words);
    std::set<std::size_t> found;
    for (const std::size_t start : starts(*make_sampler(SamplerKind::paragraphs, longer, 4, 8, 1, &more_tokens), 2000))
        found.insert(start);
    std::set<std::size_t> expected = {0, 50};
    for (std::size_t i = 8; i < 50; ++i) expected.insert(i);
    for (std::size_t i = 58; i < 92; ++i) expected.insert(i);
    CHECK(found == expected);

    // without a blank line the windows are those of the sampler `random`
    const Pieces plain(std::vector<std::string>(100, "a"));
    auto random = starts(*make_sampler(SamplerKind::random, longer, 4, 8, 1), 100);
    for (std::size_t& start : random) start = start < 8 ? 0 : start;  // the text's beginning is a paragraph's
    CHECK(starts(*make_sampler(SamplerKind::paragraphs, longer, 4, 8, 1, &plain), 100) == random);
    CHECK(starts(*make_sampler(SamplerKind::paragraphs, longer, 4, 8, 2, &plain), 100) != random);
    CHECK_THROWS_WITH(make_sampler(SamplerKind::paragraphs, longer, 4, 8, 1), contains("tokenizer"));
    CHECK_THROWS_AS(make_sampler(SamplerKind::paragraphs, std::span(longer).first(8), 4, 8, 1, &plain), BadInput);
}

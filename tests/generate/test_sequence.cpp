// Generating text token by token.
#include "generate/sequence.h"

#include "formats/utf8.h"
#include "tests/generate/sequences.h"

// The text from whole forward passes over the visible part of the text: the last tokens that fit into the context of
// 12, and only `left` of them once it is full.
static Tokens greedy_by_forward(Tokens text, std::size_t tokens, std::size_t left) {
    std::size_t begin = text.size() > 12 ? text.size() - 12 : 0;
    const std::size_t before = text.size();
    while (text.size() < before + tokens) {
        if (text.size() - begin > 12) begin = text.size() - left;
        const ConstArray<float> z = model().forward(row_of(std::span(text).subspan(begin))).value().contiguous();
        const float* const row = z.data() + z.size() - 20;
        text.push_back(static_cast<std::int32_t>(std::max_element(row, row + 20) - row));
    }
    return {text.begin() + static_cast<std::ptrdiff_t>(before), text.end()};
}

TEST_CASE("sequence: a text ends at max_tokens, at any end token, and at the tokenizer's own", "[generate]") {
    const GenerateOptions greedy = writing(0, 8);
    const auto letter = letters();
    Sequence free = started(&letter, greedy, "abc");
    const std::string all = free.write();
    REQUIRE(all.size() == 8);
    CHECK(free.next().empty());  // it has ended
    CHECK_ALL(free.generated().size() == 8, text_of({1}, 0, 1).empty());
    const auto ends_at = [&](std::vector<std::int32_t> ends, const data::Tokenizer* tokenizer) {
        Transformer<float> ending(model().config);
        fill_matrices(ending, 0.3, {9, 0});
        ending.config.end_tokens = std::move(ends);
        ending.eval();
        Sequence sequence(ending, tokenizer, greedy);
        sequence.add(Tokens{0, 1, 2});
        sequence.write();
        return std::pair{sequence.tokens().size() - 3, sequence.finish_reason()};
    };
    const std::int32_t last = all[7] - 'a', first = all[0] - 'a';
    const std::size_t at = all.find(all[7]);
    const std::int32_t other = (first + 1) % 20 == last ? (first + 2) % 20 : (first + 1) % 20;
    CHECK(ends_at({}, &letter) == std::pair{std::size_t{8}, FinishReason::length});
    CHECK(ends_at({last}, &letter) == std::pair{at, FinishReason::end_of_text});
    CHECK(ends_at({last, first}, &letter) == std::pair{std::size_t{0}, FinishReason::end_of_text});
    CHECK(ends_at({other, last}, nullptr).first <= at);
    const auto own = letters(first);
    CHECK(ends_at({last}, &own).first == 0);
}

TEST_CASE("sequence: the likeliest tokens, one text for a seed, and the repeat penalty of a long one", "[generate]") {
    for (const Tokens& prompt : {Tokens{3, 7}, Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}})
        for (const auto& [shift, left] : {std::pair<std::size_t, std::size_t>{0, 7}, {1, 12}, {12, 1}}) {
            GenerateOptions options = writing(0, 40);
            options.context_shift = shift;  // 0: half goes, and there is one new
            CHECK(generated(model(), prompt, options) == greedy_by_forward(prompt, 40, left));
        }
    const Tokens text = text_of({1}, 40, 1);
    CHECK_ALL(text_of({1}, 40, 1) == text, text_of({1}, 40, 1, 2) != text, text_of({1}, 40, 1, 1, 1) != text);
    const Tokens shorter = text_of({1}, 10, 1);
    CHECK(std::equal(shorter.begin(), shorter.end(), text.begin()));
    const Pieces tokenizer = letters();
    Sequence refused(model(), &tokenizer, writing(1, 10)), other(model(), &tokenizer, writing(1, 10));
    for (Sequence* const w : {&refused, &other}) w->add("abc");
    CHECK_THROWS_WITH(refused.add("abX"), contains("byte 2"));
    CHECK(refused.write() == other.write());
    std::string prompt(300, 'c');
    for (std::size_t i = 0; i < prompt.size(); i += 3) prompt[i] = static_cast<char>('a' + i * i % 17);
    GenerateOptions options = writing(1, 30);
    options.repeat_penalty = 1.7;
    Sequence by_ids = started(&tokenizer, options, tokenizer.encode(prompt)),
             by_text = started(&tokenizer, options, prompt);
    CHECK_ALL(by_text.write() == by_ids.write(), by_text.prompt_tokens() == 300, by_ids.tokens().size() == 330);
    CHECK(by_text.tokens().size() <= 12 + 20 + 30);
    options.repeat_penalty = 1;
    Sequence without = started(&tokenizer, options, prompt);
    CHECK(tokenizer.decode(by_text.generated()) != without.write());
}

TEST_CASE("sequence: refuses what it cannot write, and samples no ids that the tokenizer has not", "[generate]") {
    CHECK_THROWS_WITH(text_of({}, 5, 1), contains("at least one token"));
    Transformer<float> training(gpt2_shape(20, 1, 1, 8, 4, 0.5));
    CHECK_THROWS_WITH(generated(training, Tokens{1}, writing(1, 5)), contains("eval()"));
    GenerateOptions options = writing(1, 5);
    options.context_shift = 13;
    CHECK_THROWS_WITH(Sequence(model(), nullptr, options), contains("at most the context of 12, got 13"));
    options.context_shift = 12, options.stop = {"a"};
    CHECK_THROWS_WITH(Sequence(model(), nullptr, options), contains("need a tokenizer"));
    options.stop = {""};
    CHECK_THROWS_WITH(options.validate(), contains("must not be empty"));
    options = writing(-1, 5);
    CHECK_THROWS_WITH(options.validate(), contains("--temperature"));
    Sequence a(model(), nullptr, writing(1, 5)), b(model(), nullptr, writing(1, 5));
    CHECK_THROWS_WITH(a.add("text"), contains("needs a tokenizer"));
    for (Sequence* const w : {&a, &b}) w->add(Tokens{1}), w->next();
    Sequence* const both[] = {&a, &b};
    CHECK_THROWS_WITH(generate::step(both), contains("texts of one model"));
    Sequence* const twice[] = {&a, &a};
    CHECK_THROWS_WITH(generate::step(twice), contains("takes part in a step once"));
    CHECK(a.generated().size() == 1);
    const Pieces few({"a", "b", "c", "d", "e"}), many(std::vector<std::string>(99, "a"));
    for (const double temperature : {0.0, 1.0, 100.0}) {
        Sequence text = started(&few, writing(temperature, 300), "b");
        CHECK_ALL(text.write().size() == 300, *std::max_element(text.generated().begin(), text.generated().end()) < 5);
        CHECK(started(&many, writing(temperature, 300), "a").write().size() == 300);  // the model's own bound
    }
}

TEST_CASE("sequence: ends before a stop text, wherever tokens end", "[generate]") {
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < 20; ++i) pieces.push_back(std::string("abc\n").substr(i % 4) + "ab\nc"[i / 5]);
    const Pieces tokenizer(pieces);
    Sequence sequence = started(&tokenizer, writing(1, 30), Tokens{1});
    const std::string whole = sequence.write();
    CHECK(whole == tokenizer.decode(sequence.generated()));
    for (std::size_t at = 0; at < 40; ++at)
        for (std::size_t n = 1; n < 9; ++n) {
            GenerateOptions options = writing(1, 30);
            options.stop = {whole.substr(at, n)};
            Sequence stopped = started(&tokenizer, options, Tokens{1});
            std::string text;
            while (!stopped.finished()) {
                text += stopped.next();
                REQUIRE(whole.substr(0, whole.find(options.stop[0])).starts_with(text));
            }
            CHECK_ALL(text.size() == whole.find(options.stop[0]), stopped.finish_reason() == FinishReason::stop);
            const auto tokens = stopped.generated();  // no more than it took
            CHECK(tokenizer.decode(tokens).find(options.stop[0]) == text.size());
            CHECK(tokenizer.decode(tokens.first(tokens.size() - 1)).find(options.stop[0]) == std::string::npos);
        }
}

TEST_CASE("sequence: gives whole characters alone", "[generate]") {
    const std::string parts[] = {"\xE2", "\x82", "\xAC", std::string("\x82\xAC") + "a"};
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < 20; ++i) pieces.push_back(parts[i % 4]);
    const Pieces tokenizer(pieces);
    std::size_t held = 0, whole = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Sequence sequence = started(&tokenizer, writing(3, 30, seed), Tokens{1});
        std::string text;
        while (!sequence.finished()) {
            const std::string part = sequence.next();
            REQUIRE(formats::find_invalid_utf8(part) == std::string::npos);
            held += part.empty();
            text += part;
        }
        CHECK(text == generate::to_valid_utf8(tokenizer.decode(sequence.generated())));
        whole += text.find("\xE2\x82\xAC") != std::string::npos;
    }
    CHECK_ALL(held > 50, whole > 10);
}

TEST_CASE("sequence: a text goes on in turns", "[generate]") {
    const Pieces tokenizer = letters();
    Sequence whole = started(&tokenizer, writing(1, 30), "abc"), turns = started(&tokenizer, writing(1, 10), "abc");
    std::string text;
    for (int i = 0; i < 3; ++i) {
        CHECK(turns.prompt_tokens() == (i == 0 ? 3 : 0));
        text += turns.write();
        CHECK_ALL(turns.finish_reason() == FinishReason::length, turns.generated().size() == 10);
        turns.add("");
    }
    CHECK(text == whole.write());
    // also to a text that has begun, and without losing held-back text
    GenerateOptions options = writing(1, 10);
    options.stop = {text.substr(0, 5) + "!"};
    Sequence added = started(&tokenizer, options, "abc");
    for (int i = 0; i < 3; ++i) CHECK(added.next().empty());
    added.add("de");
    CHECK_ALL(added.take() == text.substr(0, 3), added.prompt_tokens() == 2, added.generated().empty());
    added.write();
    CHECK(added.generated().size() == 10);
    CHECK(tokenizer.decode(added.tokens()).starts_with("abc" + text.substr(0, 3) + "de"));
    // after a stop text, too
    options = writing(1, 30);
    std::size_t end = 0;
    while (text.find(text[end]) < end || text[end + 1] == text[end]) ++end;
    options.stop = {text.substr(end, 1)};
    Sequence stopped = started(&tokenizer, options, "abc");
    CHECK_ALL(stopped.write() == text.substr(0, end), stopped.finish_reason() == FinishReason::stop);
    stopped.add("");
    const std::string more = stopped.write();
    CHECK_ALL(!more.empty(), text.substr(end + 1).starts_with(more));
}

TEST_CASE("sequence: a text comes after the tokenizer's marks, and its special tokens are text", "[generate]") {
    class Marked final : public Pieces {
      public:
        using Pieces::Pieces;
        std::vector<std::int32_t> tokens_before() const override { return {3, 4}; }
        void encode_plain_parts(std::string_view text, const TakeIds& take, bool) const override {
            const std::vector<std::int32_t> ids(text.size(), 9);
            take(ids, text.size());
        }
    };
    const Marked tokenizer({"a", "b", "c"});
    Sequence text = started(&tokenizer, writing(0, 1), "ab");
    text.add("c");
    CHECK(copied(text.tokens()) == Tokens{3, 4, 9, 9, 9});
    CHECK(text.prompt_tokens() == 5);
    GenerateOptions special = writing(0, 1);
    special.special_tokens = true;
    Sequence other = started(&tokenizer, special, "ab");
    CHECK(copied(other.tokens()) == Tokens{3, 4, 0, 1});
    Sequence empty = started(&tokenizer, writing(0, 1), "");
    CHECK(copied(empty.tokens()) == Tokens{3, 4});
}

TEST_CASE("sequence: an empty text begins as the model was trained, and after an end of text again", "[generate]") {
    const auto first = [](const Pieces& tokenizer, bool has_bos) {
        models::Architecture shape = gpt2_shape(20, 1, 2, 8, 16);
        shape.has_bos = has_bos;
        Transformer<float> gpt(shape);
        gpt.eval();
        Sequence text(gpt, &tokenizer, writing(1, 5));
        text.add("");
        CHECK_ALL(text.prompt_tokens() == 0, text.tokens().size() == 1);
        return text.tokens()[0];
    };
    CHECK_ALL(first(letters(7), true) == 7, first(letters(), true) == 0, first(letters(7), false) == 0);
    CHECK(first(Pieces({"a", "b", "\n"}, 1), false) == 2);
    Tokens prompt{1};
    const Pieces tokenizer = letters(text_of(prompt, 1, 0)[0]);  // the first token that the model writes
    Sequence text = started(&tokenizer, writing(0, 5), prompt);
    CHECK_ALL(text.write().empty(), text.finish_reason() == FinishReason::end_of_text);
    text.add("");
    CHECK_FALSE(text.finished());
    CHECK(copied(text.tokens()) == Tokens{1, model().config.has_bos ? *tokenizer.end_of_text() : 0});
}

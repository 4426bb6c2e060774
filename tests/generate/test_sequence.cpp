// Generating text token by token, alone and in batches.
#include "generate/sequence.h"

#include "engine/base/interrupt.h"
#include "engine/ops/reduce/softmax.h"
#include "formats/utf8.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"
#include "tests/support/pieces.h"

using namespace inkling;
using namespace inkling::testing;
using generate::FinishReason;
using generate::GenerateOptions;
using generate::Sequence;
using generate::to_valid_utf8;
using models::Transformer;
using Tokens = std::vector<std::int32_t>;

namespace {

GenerateOptions writing(double temperature, std::size_t max_tokens, std::uint64_t seed = 1, std::uint64_t sample = 0) {
    GenerateOptions options;
    options.temperature = temperature;
    options.max_tokens = max_tokens;
    options.seed = seed;
    options.sample = sample;
    return options;
}

// 20 letters, the model's vocabulary.
Pieces letters(std::optional<std::int32_t> end = std::nullopt) {
    std::vector<std::string> pieces;
    for (char c = 'a'; c < 'a' + 20; ++c) pieces.emplace_back(1, c);
    return Pieces(pieces, end);
}

// Vocabulary 20, context 12.
const Transformer<float>& model() {
    static const auto made = [] {
        auto gpt = std::make_unique<Transformer<float>>(gpt2_shape(20, 2, 2, 32, 12));
        fill_matrices(*gpt, 0.3, {9, 0});  // so that texts are not all of one token
        gpt->eval();
        return gpt;
    }();
    return *made;
}

Tokens copied(std::span<const std::int32_t> tokens) { return {tokens.begin(), tokens.end()}; }

// A sequence of model() after a prompt, which is text or tokens.
template <class Prompt = Tokens>
Sequence started(const data::Tokenizer* tokenizer, const GenerateOptions& options, const Prompt& prompt) {
    Sequence text(model(), tokenizer, options);
    text.add(prompt);
    return text;
}

Tokens generated(const Transformer<float>& model, const Tokens& prompt, const GenerateOptions& options) {
    Sequence text(model, nullptr, options);
    text.add(prompt);
    text.write();
    return copied(text.generated());
}

Tokens text_of(const Tokens& prompt, std::size_t tokens, double temperature, std::uint64_t seed = 1,
               std::uint64_t sample = 0) {
    return generated(model(), prompt, writing(temperature, tokens, seed, sample));
}

// The text from whole forward passes over the visible part of the text: the last tokens that fit into the context of
// 12, and only `left` of them once it is full.
Tokens greedy_by_forward(Tokens text, std::size_t tokens, std::size_t left) {
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

// Its log-probabilities, to compare bits.
std::vector<double> logprobs_of(const Sequence& sequence) {
    std::vector<double> all;
    for (const generate::TokenLogprobs& token : sequence.logprobs()) {
        all.push_back(token.logprob);
        for (const generate::Logprob& p : token.top) all.insert(all.end(), {double(p.id), p.logprob});
    }
    return all;
}

}  // namespace

TEST_CASE("sequence: a text ends at max_tokens, at any of several end tokens, and at the tokenizer's own",
          "[generate]") {
    const GenerateOptions greedy = writing(0, 8);
    const auto letter = letters();
    Sequence free = started(&letter, greedy, "abc");
    const std::string all = free.write();
    REQUIRE(all.size() == 8);
    CHECK(free.next().empty());  // it has ended
    CHECK(free.generated().size() == 8);
    CHECK(text_of({1}, 0, 1).empty());
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

TEST_CASE("sequence: takes the likeliest token of the whole forward pass, step by step", "[generate]") {
    for (const Tokens& prompt : {Tokens{3, 7}, Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}}) {
        for (const auto& [shift, left] : {std::pair<std::size_t, std::size_t>{0, 7}, {1, 12}, {12, 1}}) {
            GenerateOptions options = writing(0, 40);
            options.context_shift = shift;  // 0: half goes, and there is one new
            CHECK(generated(model(), prompt, options) == greedy_by_forward(prompt, 40, left));
        }
    }
}

TEST_CASE("sequence: a seed gives one text, other seeds and samples others, after a refused prompt too", "[generate]") {
    const Tokens text = text_of({1}, 40, 1);
    CHECK(text_of({1}, 40, 1) == text);
    CHECK(text_of({1}, 40, 1, 2) != text);
    CHECK(text_of({1}, 40, 1, 1, 1) != text);
    const Tokens shorter = text_of({1}, 10, 1);
    CHECK(std::equal(shorter.begin(), shorter.end(), text.begin()));
    const Pieces tokenizer = letters();
    Sequence refused(model(), &tokenizer, writing(1, 10)), other(model(), &tokenizer, writing(1, 10));
    for (Sequence* const w : {&refused, &other}) w->add("abc");
    CHECK_THROWS_WITH(refused.add("abX"), contains("byte 2"));
    CHECK(refused.write() == other.write());
}

TEST_CASE("sequence: of a long text each token counts for the repeat penalty, and few are kept", "[generate]") {
    const Pieces tokenizer = letters();
    std::string prompt(300, 'c');
    for (std::size_t i = 0; i < prompt.size(); i += 3) prompt[i] = static_cast<char>('a' + i * i % 17);
    GenerateOptions options = writing(1, 30);
    options.repeat_penalty = 1.7;
    Sequence by_ids = started(&tokenizer, options, tokenizer.encode(prompt)),
             by_text = started(&tokenizer, options, prompt);
    CHECK(by_text.write() == by_ids.write());
    CHECK(by_text.prompt_tokens() == 300);
    CHECK(by_ids.tokens().size() == 330);
    CHECK(by_text.tokens().size() <= 12 + 20 + 30);
    options.repeat_penalty = 1;
    Sequence without = started(&tokenizer, options, prompt);
    CHECK(tokenizer.decode(by_text.generated()) != without.write());
}

TEST_CASE("sequence: refuses what it cannot write", "[generate]") {
    CHECK_THROWS_WITH(text_of({}, 5, 1), contains("at least one token"));
    Transformer<float> training(gpt2_shape(20, 1, 1, 8, 4, 0.5));
    CHECK_THROWS_WITH(generated(training, Tokens{1}, writing(1, 5)), contains("eval()"));
    GenerateOptions options = writing(1, 5);
    options.context_shift = 13;
    CHECK_THROWS_WITH(Sequence(model(), nullptr, options), contains("at most the context of 12, got 13"));
    options.context_shift = 12;
    options.stop = {"a"};
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
}

TEST_CASE("sequence: ids that the tokenizer does not have are never sampled", "[generate]") {
    const Pieces few({"a", "b", "c", "d", "e"}), many(std::vector<std::string>(99, "a"));
    for (const double temperature : {0.0, 1.0, 100.0}) {
        Sequence text = started(&few, writing(temperature, 300), "b");
        CHECK(text.write().size() == 300);
        CHECK(*std::max_element(text.generated().begin(), text.generated().end()) < 5);
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
    for (std::size_t at = 0; at < 40; ++at) {
        for (std::size_t n = 1; n < 9; ++n) {
            GenerateOptions options = writing(1, 30);
            options.stop = {whole.substr(at, n)};
            Sequence stopped = started(&tokenizer, options, Tokens{1});
            std::string text;
            while (!stopped.finished()) {
                text += stopped.next();
                REQUIRE(whole.substr(0, whole.find(options.stop[0])).starts_with(text));
            }
            CHECK(text.size() == whole.find(options.stop[0]));
            CHECK(stopped.finish_reason() == FinishReason::stop);
            const auto tokens = stopped.generated();  // no more than it took
            CHECK(tokenizer.decode(tokens).find(options.stop[0]) == text.size());
            CHECK(tokenizer.decode(tokens.first(tokens.size() - 1)).find(options.stop[0]) == std::string::npos);
        }
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
        CHECK(text == to_valid_utf8(tokenizer.decode(sequence.generated())));
        whole += text.find("\xE2\x82\xAC") != std::string::npos;
    }
    CHECK(held > 50);
    CHECK(whole > 10);
}

TEST_CASE("sequence: log-probabilities of prompt and text are the model's own log-softmax, whatever the options",
          "[generate]") {
    GenerateOptions options = writing(1.5, 7);
    options.top_k = 6;
    options.repeat_penalty = 1.5;
    options.logprobs = 3;
    options.prompt_logprobs = true;
    Sequence sequence = started(nullptr, options, Tokens{3, 7, 1, 17, 2});
    sequence.write();
    std::vector<generate::TokenLogprobs> all = sequence.prompt_logprobs();
    CHECK(all.size() == 4);
    all.insert(all.end(), sequence.logprobs().begin(), sequence.logprobs().end());
    REQUIRE(all.size() == 11);
    const ConstArray<float> expected = log_softmax(model().forward(row_of(sequence.tokens()))).value().contiguous();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const float* const row = expected.data() + i * 20;
        CHECK(all[i].id == sequence.tokens()[i + 1]);
        CHECK(all[i].logprob == Approx(row[all[i].id]).margin(1e-5));
        std::vector<float> sorted(row, row + 20);
        std::sort(sorted.rbegin(), sorted.rend());
        REQUIRE(all[i].top.size() == 3);
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(all[i].top[k].logprob == Approx(row[all[i].top[k].id]).margin(1e-5));
            CHECK(all[i].top[k].logprob == Approx(sorted[k]).margin(1e-5));
        }
    }
    options.logprobs = 0;  // those of the text alone
    Sequence alone = started(nullptr, options, Tokens{3, 7, 1, 17, 2});
    alone.write();
    REQUIRE(alone.logprobs().size() == 7);
    CHECK(alone.logprobs()[4].logprob == sequence.logprobs()[4].logprob);
    CHECK(alone.logprobs()[4].top.empty());
    Sequence long_prompt = started(nullptr, options, Tokens(13, 1));
    CHECK_THROWS_WITH(long_prompt.prefill(), contains("in the context"));
}

TEST_CASE("sequence: the token that ends a text has a log-probability beside the text's", "[generate]") {
    const Tokens prompt{1, 5, 3, 17, 2};
    GenerateOptions options = writing(0, 5);
    options.logprobs = 1;
    Sequence whole = started(nullptr, options, prompt);
    whole.next();
    options.end_tokens = {whole.generated()[0]};
    Sequence ended = started(nullptr, options, prompt);
    ended.next();
    CHECK(ended.finish_reason() == FinishReason::end_of_text);
    CHECK(ended.generated().empty());
    CHECK(ended.logprobs().empty());
    CHECK(ended.end_logprobs()->id == whole.generated()[0]);
    CHECK(ended.end_logprobs()->logprob == whole.logprobs()[0].logprob);
}

TEST_CASE("sequence: texts that join and leave a batch at random have the same bits alone", "[generate]") {
    constexpr std::size_t kTexts = 30;
    const Pieces tokenizer = letters(12);
    for (const auto type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
        const auto inference = std::make_shared<const models::InferenceModel>(model(), type);
        const auto begun = [&](std::size_t i) {
            GenerateOptions options = writing(std::vector{0.0, 0.8, 1.3}[i % 3], 1 + i * 11 % 60, i % 4, i);
            options.top_k = i % 5 == 0 ? 7 : 0;
            options.top_p = i % 2 == 0 ? 0.9 : 1;
            options.repeat_penalty = i % 4 == 0 ? 1.2 : 1;
            options.context_shift = std::vector{0, 1, 5, 12}[i % 4];  // texts are longer than the context of 12
            if (i % 3 == 1) options.stop = {"ab", "ce", "g", "q"};
            if (i % 2 == 0) options.logprobs = i % 7;
            Sequence text(inference, &tokenizer, options);
            Tokens prompt;
            for (std::size_t t = 0; t < 1 + i * 5 % 31; ++t)
                prompt.push_back(static_cast<std::int32_t>((i + t * t) % 19));
            text.add(prompt);
            return text;
        };
        std::vector<Sequence> texts;
        std::vector<std::string> shown(kTexts);
        for (std::size_t i = 0; i < kTexts; ++i) texts.push_back(begun(i));
        std::vector<std::size_t> sizes;
        std::size_t moment = 0, left = kTexts;
        const auto random = [&](std::size_t n) { return random_below({7, 0}, moment++, n); };
        while (left > 0) {
            std::vector<Sequence*> batch;  // a third of the texts wait, and the others come in any order
            for (Sequence& text : texts)
                if (random(3) > 0)
                    batch.insert(batch.begin() + static_cast<std::ptrdiff_t>(random(batch.size() + 1)), &text);
            generate::step(batch);
            for (std::size_t i = 0; i < kTexts; ++i) shown[i] += texts[i].take();
            if (random(8) == 0) texts[random(kTexts)].finish();  // one leaves for good
            left = static_cast<std::size_t>(
                std::count_if(texts.begin(), texts.end(), [](const Sequence& w) { return !w.finished(); }));
            sizes.push_back(batch.size());
        }
        CHECK(*std::max_element(sizes.begin(), sizes.end()) > 15);
        std::map<FinishReason, std::size_t> reasons;
        for (std::size_t i = 0; i < kTexts; ++i) {
            shown[i] += texts[i].take();
            Sequence alone = begun(i);
            const std::string text = alone.write();
            INFO("text " << i << ", " << name(texts[i].finish_reason()));
            ++reasons[texts[i].finish_reason()];
            if (texts[i].finish_reason() == FinishReason::interrupted) {
                CHECK(text.starts_with(shown[i]));
                CHECK(tokenizer.decode(alone.generated()).starts_with(tokenizer.decode(texts[i].generated())));
            } else {
                CHECK(shown[i] == text);
                CHECK(copied(texts[i].generated()) == copied(alone.generated()));
                CHECK(logprobs_of(texts[i]) == logprobs_of(alone));
                CHECK(texts[i].finish_reason() == alone.finish_reason());
            }
        }
        CHECK(reasons.size() == 4);  // length, stop, end of text, interrupted
    }
}

TEST_CASE("sequence: another sample of the same text equals one made from the start", "[generate]") {
    const Pieces tokenizer = letters();
    Sequence begun = started(&tokenizer, writing(1, 30), "abcdefg");
    begun.prefill();
    for (const std::uint64_t sample : {0, 3, 1}) {
        Sequence direct = started(&tokenizer, writing(1, 30, 1, sample), "abcdefg"), copy = begun.fork(sample);
        CHECK(copy.prompt_tokens() == 7);
        const std::string text = direct.write();
        CHECK(copy.write() == text);
        Sequence half = begun.fork(sample);  // of a text that has begun
        std::string first;
        for (int i = 0; i < 12; ++i) first += half.next();
        Sequence other = half.fork(sample);
        CHECK(first + other.write() == text);
        CHECK(first + half.write() == text);
    }
}

TEST_CASE("sequence: a text goes on in turns", "[generate]") {
    const Pieces tokenizer = letters();
    Sequence whole = started(&tokenizer, writing(1, 30), "abc"), turns = started(&tokenizer, writing(1, 10), "abc");
    std::string text;
    for (int i = 0; i < 3; ++i) {
        CHECK(turns.prompt_tokens() == (i == 0 ? 3 : 0));
        text += turns.write();
        CHECK(turns.finish_reason() == FinishReason::length);
        CHECK(turns.generated().size() == 10);
        turns.add("");
    }
    CHECK(text == whole.write());
    // also to a text that has begun, and without losing held-back text
    GenerateOptions options = writing(1, 10);
    options.stop = {text.substr(0, 5) + "!"};
    Sequence added = started(&tokenizer, options, "abc");
    for (int i = 0; i < 3; ++i) CHECK(added.next().empty());
    added.add("de");
    CHECK(added.take() == text.substr(0, 3));
    CHECK(added.prompt_tokens() == 2);
    CHECK(added.generated().empty());
    added.write();
    CHECK(added.generated().size() == 10);
    CHECK(tokenizer.decode(added.tokens()).starts_with("abc" + text.substr(0, 3) + "de"));
    // after a stop text, too
    options = writing(1, 30);
    std::size_t end = 0;
    while (text.find(text[end]) < end || text[end + 1] == text[end]) ++end;
    options.stop = {text.substr(end, 1)};
    Sequence stopped = started(&tokenizer, options, "abc");
    CHECK(stopped.write() == text.substr(0, end));
    CHECK(stopped.finish_reason() == FinishReason::stop);
    stopped.add("");
    const std::string more = stopped.write();
    CHECK_FALSE(more.empty());
    CHECK(text.substr(end + 1).starts_with(more));
}

TEST_CASE("sequence: a text comes after the tokenizer's marks, and its special tokens are text", "[generate]") {
    class Marked final : public Pieces {
      public:
        using Pieces::Pieces;
        std::vector<std::int32_t> marks_before() const override { return {3, 4}; }
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
        CHECK(text.prompt_tokens() == 0);
        CHECK(text.tokens().size() == 1);
        return text.tokens()[0];
    };
    CHECK(first(letters(7), true) == 7);
    CHECK(first(letters(), true) == 0);
    CHECK(first(letters(7), false) == 0);
    CHECK(first(Pieces({"a", "b", "\n"}, 1), false) == 2);
    Tokens prompt{1};
    const Pieces tokenizer = letters(text_of(prompt, 1, 0)[0]);  // the first token that the model writes
    Sequence text = started(&tokenizer, writing(0, 5), prompt);
    CHECK(text.write().empty());
    CHECK(text.finish_reason() == FinishReason::end_of_text);
    text.add("");
    CHECK_FALSE(text.finished());
    CHECK(copied(text.tokens()) == Tokens{1, model().config.has_bos ? *tokenizer.end_of_text() : 0});
}

TEST_CASE("sequence: log-probabilities of a prompt are the same after an interruption, and in pieces", "[generate]") {
    const Tokens prompt{1, 5, 3, 17, 2, 9};
    GenerateOptions options = writing(0, 3);
    options.logprobs = 2;
    options.prompt_logprobs = true;
    Sequence whole = started(nullptr, options, prompt);
    whole.limit(0);
    whole.prefill();
    CHECK(whole.finish_reason() == FinishReason::length);
    const auto check_same = [&](const Sequence& text) {
        REQUIRE(text.prompt_logprobs().size() == prompt.size() - 1);
        for (std::size_t i = 0; i + 1 < prompt.size(); ++i) {
            CHECK(text.prompt_logprobs()[i].id == prompt[i + 1]);
            CHECK(text.prompt_logprobs()[i].logprob == Approx(whole.prompt_logprobs()[i].logprob).margin(1e-4));
            CHECK(text.prompt_logprobs()[i].top.size() == 2);
        }
    };
    for (const int layer : {0, 1}) {
        Sequence text = started(nullptr, options, prompt);
        {
            int asked = 0;
            const Interruptible scope([&] { return asked++ == layer; });
            CHECK_THROWS_AS(text.prefill(), Interrupted);
        }
        CHECK(text.prompt_logprobs().empty());
        text.prefill();
        check_same(text);
    }
    for (const std::size_t first : {1, 2, 5}) {  // the last: a rest of one token, which a step computes
        Sequence text = started(nullptr, options, std::span(prompt).first(first));
        text.prefill();
        text.add(std::span(prompt).subspan(first));
        text.next();
        check_same(text);
        CHECK(text.generated().size() == 1);
    }
}

TEST_CASE("sequence: a text that fails half way through a token stays failed, and the others of its step go on",
          "[generate]") {
    struct Failing : Pieces {
        explicit Failing(const Pieces& pieces) : Pieces(pieces) {}
        std::string decode(std::span<const std::int32_t> ids) const override {
            check(--left != 0, "no memory");
            return Pieces::decode(ids);
        }
        mutable int left = 3;
    };
    const Pieces tokenizer = letters();
    const Failing failing(tokenizer);
    GenerateOptions options = writing(0, 8);
    options.logprobs = 1;
    const std::string whole = started(&tokenizer, options, Tokens{1}).write();
    const auto inference = std::make_shared<models::InferenceModel>(model());
    for (const bool first : {true, false}) {
        failing.left = 3;
        Sequence bad(inference, &failing, options), good(inference, &tokenizer, options);
        bad.add(Tokens{1}), good.add(Tokens{1});
        Sequence* const both[] = {first ? &bad : &good, first ? &good : &bad};
        step(both), step(both);
        CHECK_THROWS_WITH(step(both), "no memory");
        CHECK_THROWS_WITH(step(both), "no memory");
        CHECK_THROWS_WITH(bad.next(), "no memory");
        CHECK(bad.take() == whole.substr(0, 2));
        CHECK(good.write() == whole);
        CHECK(good.logprobs().size() == 8);
    }
}

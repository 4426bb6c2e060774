// Texts in batches and from one another, and the log-probabilities of tokens.
#include "tests/generate/sequences.h"

#include "engine/base/interrupt.h"

// Its log-probabilities, to compare bits.
static std::vector<double> logprobs_of(const Sequence& sequence) {
    std::vector<double> all;
    for (const generate::TokenLogprobs& token : sequence.logprobs()) {
        all.push_back(token.logprob);
        for (const generate::Logprob& p : token.top) all.insert(all.end(), {double(p.id), p.logprob});
    }
    return all;
}

TEST_CASE("sequence: log-probabilities are the model's own log-softmax, of the ending token too", "[generate]") {
    GenerateOptions options = writing(1.5, 7);
    options.top_k = 6, options.repeat_penalty = 1.5, options.logprobs = 3, options.prompt_logprobs = true;
    Sequence sequence = started(nullptr, options, Tokens{3, 7, 1, 17, 2});
    sequence.write();
    std::vector<generate::TokenLogprobs> all = sequence.prompt_logprobs();
    CHECK(all.size() == 4);
    all.insert(all.end(), sequence.logprobs().begin(), sequence.logprobs().end());
    REQUIRE(all.size() == 11);
    const ConstArray<float> expected = log_softmax(model().forward(row_of(sequence.tokens()))).value().contiguous();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const float* const row = expected.data() + i * 20;
        CHECK_ALL(all[i].id == sequence.tokens()[i + 1], all[i].logprob == Approx(row[all[i].id]).margin(1e-5));
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
    CHECK_ALL(alone.logprobs()[4].logprob == sequence.logprobs()[4].logprob, alone.logprobs()[4].top.empty());
    Sequence long_prompt = started(nullptr, options, Tokens(13, 1));
    CHECK_THROWS_WITH(long_prompt.prefill(), contains("in the context"));
    const Tokens prompt{1, 5, 3, 17, 2};
    GenerateOptions greedy = writing(0, 5);
    greedy.logprobs = 1;
    Sequence whole = started(nullptr, greedy, prompt);
    whole.next();
    greedy.end_tokens = {whole.generated()[0]};
    Sequence ended = started(nullptr, greedy, prompt);
    ended.next();
    CHECK_ALL(ended.finish_reason() == FinishReason::end_of_text, ended.generated().empty(), ended.logprobs().empty());
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
            options.top_k = i % 5 == 0 ? 7 : 0, options.top_p = i % 2 == 0 ? 0.9 : 1;
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
                CHECK_ALL(shown[i] == text, copied(texts[i].generated()) == copied(alone.generated()));
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
        CHECK_ALL(first + other.write() == text, first + half.write() == text);
    }
}

TEST_CASE("sequence: log-probabilities of a prompt are the same after an interruption, and in pieces", "[generate]") {
    const Tokens prompt{1, 5, 3, 17, 2, 9};
    GenerateOptions options = writing(0, 3);
    options.logprobs = 2, options.prompt_logprobs = true;
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

TEST_CASE("sequence: a text that fails within a token stays failed, and others of its step go on", "[generate]") {
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
        CHECK_ALL(bad.take() == whole.substr(0, 2), good.write() == whole, good.logprobs().size() == 8);
    }
}

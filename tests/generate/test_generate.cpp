// Choosing tokens from logits, and writing text token by token.
#include "generate/generate.h"

#include <numeric>

#include "models/decoder.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"

using namespace inkling;
using namespace inkling::testing;
using models::generate;
using models::GenerateOptions;
using models::sample_token;
using models::Transformer;
using Tokens = std::vector<std::int32_t>;

namespace {

GenerateOptions choose(double temperature, std::size_t top_k = 0) {
    GenerateOptions options;
    options.temperature = temperature;
    options.top_k = top_k;
    return options;
}

// The part of [0, 1) that each token is drawn by.
std::vector<double> shares(const std::vector<float>& logits, const GenerateOptions& options) {
    constexpr int kLots = 100'000;
    std::vector<double> share(logits.size());
    for (int i = 0; i < kLots; ++i)
        share[static_cast<std::size_t>(sample_token(logits, options, (i + 0.5) / kLots))] += 1.0 / kLots;
    return share;
}

// softmax(logits / temperature) over the k largest, the first of equals.
std::vector<double> definition(const std::vector<float>& logits, double temperature, std::size_t k) {
    std::vector<std::size_t> order(logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
    std::vector<double> p(logits.size());
    double total = 0;
    for (std::size_t i = 0; i < std::min(k ? k : order.size(), order.size()); ++i)
        total += p[order[i]] = std::exp(static_cast<double>(logits[order[i]]) / temperature);
    for (double& x : p) x /= total;
    return p;
}

const Transformer<float>& model() {
    static const auto made = [] {
        auto gpt = std::make_unique<Transformer<float>>(gpt2_shape(20, 2, 2, 32, 12));
        fill_matrices(*gpt, 0.3, {9, 0});  // so that texts are not all of one token
        gpt->eval();
        return gpt;
    }();
    return *made;
}

Tokens text_of(const Tokens& prompt, std::size_t tokens, double temperature, std::uint64_t seed = 1,
               std::uint64_t sample = 0) {
    GenerateOptions options = choose(temperature);
    options.max_tokens = tokens;
    options.seed = seed;
    options.sample = sample;
    return generate(model(), prompt, options);
}

}  // namespace

TEST_CASE("sampling: tokens are drawn with the probabilities of the definition", "[models]") {
    const std::vector<float> logits{1.0f, -2.0f, 0.5f, 3.0f, 1.0f, 2.9f, -50.0f};
    for (const double temperature : {0.1, 0.8, 1.0, 3.0}) {
        for (const std::size_t k : {0, 1, 2, 4, 7, 100}) {
            const auto got = shares(logits, choose(temperature, k)), want = definition(logits, temperature, k);
            for (std::size_t v = 0; v < logits.size(); ++v) {
                INFO("temperature " << temperature << ", top_k " << k << ", token " << v);
                CHECK(got[v] == Approx(want[v]).margin(3e-5));
            }
        }
    }
}

TEST_CASE("sampling: temperature 0 takes the likeliest, the first of equals", "[models]") {
    for (const double lot : {0.0, 0.5, 0.999}) {
        CHECK(sample_token(std::vector<float>{1, 3, 2}, choose(0), lot) == 1);
        CHECK(sample_token(std::vector<float>{1, 3, 2, 3, 3}, choose(0), lot) == 1);
        CHECK(sample_token(std::vector<float>{0, 0, 0}, choose(0), lot) == 0);
        CHECK(sample_token(std::vector<float>{0, 2, 2}, choose(1, 1), lot) == 1);
    }
}

TEST_CASE("sampling: the smallest and largest lot, impossible tokens and extreme logits", "[models]") {
    const float none = -std::numeric_limits<float>::infinity();
    const double last = std::nextafter(1.0, 0.0);
    const std::vector<float> logits{none, 0.0f, none, 1.0f, none};
    for (const double lot : {0.0, last}) {
        for (const std::size_t k : {0, 4, 5}) {
            const auto token = sample_token(logits, choose(1, k), lot);
            CHECK((token == 1 || token == 3));
        }
    }
    CHECK(sample_token(logits, choose(1), 0.0) != sample_token(logits, choose(1), last));
    CHECK(sample_token(std::vector<float>{1e30f, -1e30f, 3e38f}, choose(0.01), 0.7) == 2);
    CHECK(sample_token(std::vector<float>{5.0f}, choose(2), last) == 0);
    const std::vector<float> even(1000, 0.25f);
    CHECK(sample_token(even, choose(1), last) == 999);
    CHECK(sample_token(even, choose(1), 0.0) == 0);
}

TEST_CASE("sampling: what cannot be drawn from is refused", "[models]") {
    CHECK_THROWS_WITH(sample_token(std::vector<float>{}, choose(1), 0.5), ContainsSubstring("at least one logit"));
    CHECK_THROWS_WITH(sample_token(std::vector<float>{1, std::nanf("")}, choose(0), 0.5),
                      ContainsSubstring("not numbers"));
    CHECK_THROWS_WITH(sample_token(std::vector<float>{1, 2}, choose(-1), 0.5), ContainsSubstring("temperature"));
    CHECK_THROWS_WITH(sample_token(std::vector<float>{1, 2}, choose(std::nan("")), 0.5),
                      ContainsSubstring("temperature"));
}

namespace {

// The text that whole forward passes give, each over what the model sees of the text: the last tokens that fit into the
// context of 12, and `left` of them when it is full.
Tokens greedy_by_forward(Tokens text, std::size_t tokens, std::size_t left) {
    std::size_t begin = text.size() > 12 ? text.size() - 12 : 0;
    const std::size_t before = text.size();
    while (text.size() < before + tokens) {
        if (text.size() - begin > 12) begin = text.size() - left;
        IdArray ids({1, text.size() - begin});
        std::copy(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), ids.data());
        const ConstArray<float> z = model().forward(ids).value().contiguous();
        const float* const row = z.data() + z.size() - 20;
        text.push_back(static_cast<std::int32_t>(std::max_element(row, row + 20) - row));
    }
    return {text.begin() + static_cast<std::ptrdiff_t>(before), text.end()};
}

}  // namespace

TEST_CASE("generate: takes the likeliest token of the whole forward pass, step by step", "[models]") {
    for (const Tokens& prompt : {Tokens{3, 7}, Tokens{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}}) {
        CHECK(text_of(prompt, 40, 0) == greedy_by_forward(prompt, 40, 7));  // half goes, and there is one new
        GenerateOptions options = choose(0);
        options.max_tokens = 40;
        options.context_shift = 1;
        CHECK(generate(model(), prompt, options) == greedy_by_forward(prompt, 40, 12));
        options.context_shift = 12;
        CHECK(generate(model(), prompt, options) == greedy_by_forward(prompt, 40, 1));
    }
}

TEST_CASE("generate: a seed gives one text, other seeds and samples give others", "[models]") {
    const Tokens text = text_of({1}, 40, 1);
    CHECK(text_of({1}, 40, 1) == text);
    CHECK(text_of({1}, 40, 1, 2) != text);
    CHECK(text_of({1}, 40, 1, 1, 1) != text);
    const Tokens shorter = text_of({1}, 10, 1);
    CHECK(std::equal(shorter.begin(), shorter.end(), text.begin()));
}

TEST_CASE("generate: prompts longer than the context count by their end", "[models]") {
    Tokens prompt;
    for (std::int32_t i = 0; i < 50; ++i) prompt.push_back(i * 7 % 20);
    const Tokens end(prompt.end() - 12, prompt.end());
    const Tokens text = text_of(prompt, 20, 1);
    CHECK(text.size() == 20);
    CHECK(text_of(end, 20, 1) == text);
    prompt[0] = 19;
    CHECK(text_of(prompt, 20, 1) == text);
}

TEST_CASE("generate: ends where it is told to", "[models]") {
    CHECK(text_of({1}, 0, 1).empty());
    Tokens seen;
    GenerateOptions options = choose(1);
    options.max_tokens = 20;
    const Tokens text = generate(model(), Tokens{1}, options, [&](std::int32_t token) {
        seen.push_back(token);
        return seen.size() < 5;
    });
    CHECK(seen.size() == 5);
    CHECK(text == seen);
}

TEST_CASE("generate: refuses an empty prompt and a model in training mode", "[models]") {
    CHECK_THROWS_WITH(text_of({}, 5, 1), ContainsSubstring("at least one token"));
    Transformer<float> training(gpt2_shape(20, 1, 1, 8, 4, 0.5));
    CHECK_THROWS_WITH(generate(training, Tokens{1}, choose(1)), ContainsSubstring("eval()"));
}

TEST_CASE("generate: the text does not depend on the number of threads", "[models]") {
    Transformer<float> gpt(gpt2_shape(65, 4, 4, 256, 64, 0.0, false), Generator{4, 0});
    gpt.eval();
    REQUIRE(models::Decoder(gpt).worthwhile_threads(1) >= 3);  // fewer weights would be left to one
    const auto with = [&](int threads) {
        const Threads scope(threads);
        GenerateOptions options = choose(1);
        options.max_tokens = 30;
        return generate(gpt, Tokens{1, 2, 3}, options);
    };
    const Tokens one = with(1);
    for (const int threads : {2, 3}) CHECK(with(threads) == one);
}

TEST_CASE("generate: ids that the tokenizer does not have are never drawn", "[models]") {
    Transformer<float> model(gpt2_shape(32, 1, 2, 8, 16), Generator{1, 0});
    model.eval();
    for (const double temperature : {0.0, 1.0, 100.0}) {
        GenerateOptions options = choose(temperature);
        options.max_tokens = 300;
        options.vocab_size = 5;
        bool all = true;
        for (const std::int32_t id : generate(model, Tokens{1}, options)) all = all && id < 5;
        CHECK(all);
        options.vocab_size = 99;  // more than the model has: its own bound
        CHECK(generate(model, Tokens{1}, options).size() == 300);
    }
}

TEST_CASE("generate: the end of text ends it, and is no part of it", "[models]") {
    Transformer<float> model(gpt2_shape(8, 1, 2, 8, 16), Generator{1, 0});
    model.eval();
    GenerateOptions options = choose(1.0);
    options.max_tokens = 100;
    const Tokens whole = generate(model, Tokens{1}, options);
    REQUIRE(whole.size() == 100);
    options.end_of_text = whole[40];
    Tokens seen;
    const Tokens ended = generate(model, Tokens{1}, options, [&](std::int32_t id) {
        seen.push_back(id);
        return true;
    });
    const auto first = std::find(whole.begin(), whole.end(), whole[40]);
    CHECK(ended == Tokens(whole.begin(), first));
    CHECK(seen == ended);
}

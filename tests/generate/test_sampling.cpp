// The steps of sampling, each against its definition, and their order.
#include "generate/sampling.h"

using Shares = std::vector<double>;

static std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options, double uniform,
                                 std::span<const std::int32_t> text = {}, std::size_t written = 0) {
    return Sampler(options).sample(logits, uniform, text, written);
}

// The share of [0, 1) that samples each token.
static Shares shares(const std::vector<float>& logits, const SamplingOptions& options,
                     const std::vector<std::int32_t>& text = {}, int n = 10'000) {
    Shares share(logits.size());
    Sampler sampler(options);
    for (int i = 0; i < n; ++i) share[static_cast<std::size_t>(sampler.sample(logits, (i + 0.5) / n, text))] += 1.0 / n;
    return share;
}

static SamplingOptions choose(double temperature, std::size_t top_k = 0) {
    return {.temperature = temperature, .top_k = top_k};
}

static void normalize(Shares& p) {
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
}

static std::vector<std::size_t> order_of(const Shares& p) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] > p[b]; });
    return order;
}

// The steps as defined in their papers, applied to whole distributions in the documented order.
static Shares definition(const std::vector<float>& logits, const SamplingOptions& o,
                         const std::vector<std::int32_t>& text) {
    Shares p(logits.begin(), logits.end());
    for (std::size_t i = 0; i < p.size(); ++i) {
        const bool seen = std::find(text.begin(), text.end(), static_cast<std::int32_t>(i)) != text.end();
        if (seen) p[i] = p[i] > 0 ? p[i] / o.repeat_penalty : p[i] * o.repeat_penalty;
    }
    for (double& x : p) x = std::exp(x / o.temperature);
    normalize(p);
    auto order = order_of(p);
    for (std::size_t i = o.top_k ? o.top_k : p.size(); i < p.size(); ++i) p[order[i]] = 0;
    normalize(p);
    double before = 0;
    for (const std::size_t i : order) {
        const double mine = p[i];
        if (before >= o.top_p) p[i] = 0;
        before += mine;
    }
    normalize(p);
    const double least = o.min_p * *std::max_element(p.begin(), p.end());
    for (double& x : p)
        if (x < least) x = 0;
    normalize(p);
    return p;
}

TEST_CASE("sampling: temperature 0, extremes, and what no token can be drawn from", "[generate]") {
    for (const double uniform : {0.0, 0.5, 0.999}) {
        CHECK(sample_token(std::vector<float>{1, 3, 2}, choose(0), uniform) == 1);
        CHECK(sample_token(std::vector<float>{1, 3, 2, 3, 3}, choose(0), uniform) == 1);
        CHECK(sample_token(std::vector<float>{0, 0, 0}, choose(0), uniform) == 0);
        CHECK(sample_token(std::vector<float>{0, 2, 2}, choose(1, 1), uniform) == 1);
    }
    const std::vector<float> logits{1.0f, 3.0f, 2.0f};  // the repeat penalty counts without temperature, too
    CHECK(sample_token(logits, {0, 0, 1, 0, 2}, 0.5, std::vector<std::int32_t>{1, 1, 1}) == 2);
    CHECK(sample_token(logits, {0, 0, 1, 0, 1.4}, 0.5, std::vector<std::int32_t>{1}) == 1);
    CHECK(sample_token(std::vector<float>{-1.0f, -1.5f}, {0, 0, 1, 0, 2}, 0.5, std::vector<std::int32_t>{0}) == 1);
    const float none = -std::numeric_limits<float>::infinity();
    const double last = std::nextafter(1.0, 0.0);
    const std::vector<float> few{none, 0.0f, none, 1.0f, none};
    for (const double uniform : {0.0, last})
        for (const std::size_t k : {0, 4, 5}) {
            const auto token = sample_token(few, choose(1, k), uniform);
            CHECK((token == 1 || token == 3));
        }
    CHECK(sample_token(few, choose(1), 0.0) != sample_token(few, choose(1), last));
    CHECK(sample_token(std::vector<float>{1e30f, -1e30f, 3e38f}, choose(0.01), 0.7) == 2);
    CHECK(sample_token(std::vector<float>{5.0f}, choose(2), last) == 0);
    const std::vector<float> even(1000, 0.25f);
    CHECK_ALL(sample_token(even, choose(1), last) == 999, sample_token(even, choose(1), 0.0) == 0);
    CHECK_THROWS_WITH(sample_token(std::vector<float>{}, choose(1), 0.5), contains("at least one logit"));
    CHECK_THROWS_WITH(sample_token(std::vector<float>{1, std::nanf("")}, choose(0), 0.5), contains("not numbers"));
    CHECK_THROWS_WITH(sample_token(std::vector<float>{1, 2}, choose(-1), 0.5), contains("temperature"));
    CHECK_THROWS_WITH(sample_token(std::vector<float>{1, 2}, choose(std::nan("")), 0.5), contains("temperature"));
    const std::vector<float> z{1, 2};  // senseless options are refused
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 0}, 0), contains("--top-p must be above 0"));
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 1.5}, 0), contains("got 1.5"));
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 1, -0.1}, 0), contains("--min-p"));
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 1, 0, 0}, 0), contains("--repeat-penalty"));
    CHECK_THROWS_WITH(sample_token(z, {kInfinity}, 0), contains("--temperature"));
}

TEST_CASE("sampling: every combination of steps is its definition", "[generate][unsanitized]") {
    const std::vector<float> logits{1.0f, -2.0f, 0.5f, 3.0f, 1.0f, 2.9f, -50.0f, 2.0f, 0.0f};
    const std::vector<std::int32_t> text{3, 1, 3, 8};
    for (const double temperature : {0.4, 1.0, 2.5})
        for (const std::size_t k : {0, 1, 4, 9, 100})
            for (const double p : {0.05, 0.5, 0.93, 1.0})
                for (const double m : {0.0, 0.05, 0.4, 1.0})
                    for (const double r : {1.0, 1.7, 0.5}) {
                        const SamplingOptions options{temperature, k, p, m, r};
                        const Shares got = shares(logits, options, text), want = definition(logits, options, text);
                        INFO("temperature " << temperature << ", k " << k << ", p " << p << ", min " << m << ", repeat "
                                            << r);
                        double worst = 0;
                        for (std::size_t v = 0; v < got.size(); ++v)
                            worst = std::max(worst, std::abs(got[v] - want[v]));
                        CHECK(worst < 3e-4);
                    }
}

TEST_CASE("sampling: top-p of a large vocabulary, biases first, and penalties of written tokens", "[generate]") {
    constexpr std::size_t V = 5000;
    const Array<float> z = cast<float>(normal({V}, 8));
    const std::vector<float> logits(z.data(), z.data() + V);
    for (const double p : {0.01, 0.3, 0.9, 0.999}) {
        const SamplingOptions options{1.0, 0, p, 0, 1};
        const Shares want = definition(logits, options, {});
        for (int i = 0; i < 400; ++i)
            REQUIRE(want[static_cast<std::size_t>(sample_token(logits, options, (i + 0.5) / 400))] > 0);
    }
    const std::vector<float> few{1.0f, 3.0f, 2.0f, -1.0f};
    const auto greedy = [&](auto change, std::vector<std::int32_t> text = {}, std::size_t written = 0) {
        SamplingOptions options = choose(0);
        change(options);
        return sample_token(few, options, 0.5, text, written);
    };
    CHECK(greedy([](auto& o) { o.logit_bias = {{0, 2.5}}; }) == 0);
    CHECK(greedy([](auto& o) { o.logit_bias = {{1, -1.5}, {99, 100.0}}; }) == 2);
    const auto presence = [](auto& o) { o.presence_penalty = 1.5; };
    CHECK(greedy(presence, {1, 1}, 0) == 1);  // what was not written does not count
    CHECK(greedy(presence, {1, 1}, 1) == 2);
    CHECK(greedy(presence, {2, 1, 2}, 2) == 1);  // 3 - 1.5 and 2 - 1.5, once each
    const auto frequency = [](auto& o) { o.frequency_penalty = 0.6; };
    CHECK_ALL(greedy(frequency, {1}, 1) == 1, greedy(frequency, {1, 1}, 2) == 2);
    CHECK(greedy(frequency, {1, 1, 2, 2}, 4) == 1);
    CHECK(greedy([](auto& o) { o.repeat_penalty = 2, o.presence_penalty = 0.4; }, {1, 0}, 1) == 2);
    for (const auto& [penalty, token] : {std::pair{0.4, 1}, {0.6, 2}}) {
        const auto all = [p = penalty](auto& o) {
            o.repeat_penalty = 2, o.logit_bias = {{1, 2.0}}, o.presence_penalty = p;
        };
        CHECK(greedy(all, {1}, 1) == token);
    }
    CHECK_THROWS_WITH(greedy([](auto& o) { o.presence_penalty = std::nan(""); }), contains("--presence-penalty"));
    CHECK_THROWS_WITH(greedy([](auto& o) { o.frequency_penalty = 1 / 0.0; }), contains("--frequency-penalty"));
}

TEST_CASE("sampling: a sampler takes each token as a new one would, log-probabilities are softmax's", "[generate]") {
    for (const std::size_t top_k : {0, 5}) {
        const SamplingOptions options{
            .temperature = 1, .top_k = top_k, .top_p = 0.9, .repeat_penalty = 1.5, .frequency_penalty = 0.5};
        Sampler sampler(options);
        std::vector<std::int32_t> text;
        for (std::uint64_t i = 0; i < 40; ++i) {
            const Array<float> z = cast<float>(normal({i % 2 ? 12u : 30u}, i));  // sizes may change, too
            const std::span logits(z.data(), z.size());
            const double uniform = (static_cast<double>(i) + 0.5) / 40;
            const std::int32_t token = sample_token(logits, options, uniform, text, text.size() / 2);
            REQUIRE(sampler.sample(logits, uniform, text, text.size() / 2) == token);
            text.push_back(token);
        }
    }
    const std::vector<float> logits{1.0f, -2.0f, 0.5f, 3.0f};
    const auto p = generate::token_logprobs(logits, 2, 3);
    REQUIRE(p.top.size() == 3);
    CHECK((p.id == 2 && p.top[0].id == 3 && p.top[1].id == 0 && p.top[2].id == 2));
    const double sum = std::exp(1.0) + std::exp(-2.0) + std::exp(0.5) + std::exp(3.0);
    CHECK(p.logprob == p.top[2].logprob);
    for (const auto& [id, logprob] : p.top)
        CHECK(logprob ==
              Approx(static_cast<double>(logits[static_cast<std::size_t>(id)]) - std::log(sum)).margin(1e-12));
    CHECK(generate::token_logprobs(logits, 0, 99).top.size() == 4);
}

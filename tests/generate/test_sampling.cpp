// The steps of sampling, each against its definition, and their order.
#include "generate/sampling.h"

#include <numeric>

#include "tests/engine/helpers.h"

using namespace inkling;
using namespace inkling::testing;
using models::sample_token;
using models::SamplingOptions;
using Shares = std::vector<double>;

namespace {

// The part of [0, 1) that each token is drawn by.
Shares shares(const std::vector<float>& logits, const SamplingOptions& options,
              const std::vector<std::int32_t>& text = {}) {
    constexpr int kLots = 10'000;
    Shares share(logits.size());
    for (int i = 0; i < kLots; ++i)
        share[static_cast<std::size_t>(sample_token(logits, options, (i + 0.5) / kLots, text))] += 1.0 / kLots;
    return share;
}

void normalize(Shares& p) {
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
}

std::vector<std::size_t> order_of(const Shares& p) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] > p[b]; });
    return order;
}

// The steps as their papers have them, one after the other on whole distributions, in the documented order.
Shares definition(const std::vector<float>& logits, const SamplingOptions& o, const std::vector<std::int32_t>& text) {
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

}  // namespace

TEST_CASE("sampling: every combination of steps is its definition", "[models]") {
    const std::vector<float> logits{1.0f, -2.0f, 0.5f, 3.0f, 1.0f, 2.9f, -50.0f, 2.0f, 0.0f};
    const std::vector<std::int32_t> text{3, 1, 3, 8};
    for (const double temperature : {0.4, 1.0, 2.5})
        for (const std::size_t k : {0, 1, 4, 100})
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

TEST_CASE("sampling: top-p of a large vocabulary keeps the fewest that make it up", "[models]") {
    constexpr std::size_t V = 5000;
    const Array<float> z = cast<float>(normal({V}, 8));
    const std::vector<float> logits(z.data(), z.data() + V);
    for (const double p : {0.01, 0.3, 0.9, 0.999}) {
        const SamplingOptions options{1.0, 0, p, 0, 1};
        const Shares want = definition(logits, options, {});
        for (int i = 0; i < 400; ++i)
            REQUIRE(want[static_cast<std::size_t>(sample_token(logits, options, (i + 0.5) / 400))] > 0);
    }
}

TEST_CASE("sampling: the repeat penalty counts without temperature, too", "[models]") {
    const std::vector<float> logits{1.0f, 3.0f, 2.0f};
    CHECK(sample_token(logits, {0, 0, 1, 0, 2}, 0.5, std::vector<std::int32_t>{1, 1, 1}) == 2);
    CHECK(sample_token(logits, {0, 0, 1, 0, 1.4}, 0.5, std::vector<std::int32_t>{1}) == 1);
    CHECK(sample_token(std::vector<float>{-1.0f, -1.5f}, {0, 0, 1, 0, 2}, 0.5, std::vector<std::int32_t>{0}) == 1);
}

TEST_CASE("sampling: senseless options are refused", "[models]") {
    const std::vector<float> z{1, 2};
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 0}, 0), ContainsSubstring("--top-p must be above 0"));
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 1.5}, 0), ContainsSubstring("got 1.5"));
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 1, -0.1}, 0), ContainsSubstring("--min-p"));
    CHECK_THROWS_WITH(sample_token(z, {1, 0, 1, 0, 0}, 0), ContainsSubstring("--repeat-penalty"));
    CHECK_THROWS_WITH(sample_token(z, {kInfinity}, 0), ContainsSubstring("--temperature"));
}

TEST_CASE("sampling: log-probabilities are those of the softmax", "[models]") {
    const std::vector<float> logits{1.0f, -2.0f, 0.5f, 3.0f};
    const auto p = models::log_probabilities(logits, 2, 3);
    REQUIRE(p.size() == 4);
    CHECK((p[0].token == 2 && p[1].token == 3 && p[2].token == 0 && p[3].token == 2));
    const double sum = std::exp(1.0) + std::exp(-2.0) + std::exp(0.5) + std::exp(3.0);
    for (const auto& [token, log_p] : p)
        CHECK(log_p ==
              Approx(static_cast<double>(logits[static_cast<std::size_t>(token)]) - std::log(sum)).margin(1e-12));
    CHECK(models::log_probabilities(logits, 0, 99).size() == 5);
}

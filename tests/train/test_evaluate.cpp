// Evaluation: every token but the first is predicted once, and always with the same result.
#include "train/evaluate.h"

#include "data/sampler.h"
#include "tests/models/architectures.h"
#include "tests/train/parameters.h"
#include "tests/train/run.h"
#include "train/step/weight_average.h"

static Transformer<float> model(double dropout = 0) {
    Transformer<float> made(gpt2_shape(10, 1, 2, 16, 16, dropout));
    fill_matrices(made, 0.3, {2, 0});
    return made;
}

static std::vector<std::int32_t> random_tokens(std::size_t n) {
    const IdArray ids = random_ids({n}, 10, 6);
    return {ids.data(), ids.data() + n};
}

// Windows of 16 side by side, one at a time, the last one short.
static double by_hand(const Transformer<float>& gpt, const std::vector<std::int32_t>& tokens) {
    double total = 0;
    std::size_t predicted = 0;
    for (std::size_t at = 0; at + 1 < tokens.size(); at += 16) {
        const std::size_t n = std::min<std::size_t>(16, tokens.size() - 1 - at);
        IdArray x({1, n}), y({1, n});
        std::copy_n(tokens.data() + at, n, x.data()), std::copy_n(tokens.data() + at + 1, n, y.data());
        total += static_cast<double>(gpt.loss(x, y).item()) * static_cast<double>(n);
        predicted += n;
    }
    CHECK(predicted == tokens.size() - 1);
    return total / static_cast<double>(predicted);
}

TEST_CASE("evaluate: the mean over every token but the first, with a stride each token once", "[train]") {
    Transformer<float> gpt = model();
    // one window; a whole number of windows; a rest of 1 and of 15; more than one batch
    for (const std::size_t n : {2, 16, 17, 33, 18, 48, 1000, 4096 + 17, 10'000}) {
        const auto tokens = random_tokens(n);
        INFO(n << " tokens");
        const double loss = evaluate(gpt, tokens);
        CHECK(loss == Approx(by_hand(gpt, tokens)).epsilon(1e-6));
        const std::vector<std::uint16_t> of_2_bytes(tokens.begin(), tokens.end());
        CHECK(evaluate(gpt, std::span(of_2_bytes)) == loss);
    }
    CHECK_THROWS_AS(evaluate(gpt, random_tokens(1)), BadInput);
    CHECK_THROWS_AS(evaluate(gpt, {}), BadInput);
    CHECK(gpt.training());
    Transformer<float> strided = model();
    for (const std::size_t n : {2, 10, 17, 18, 33, 100, 5000}) {
        const auto tokens = random_tokens(n);
        for (const std::size_t stride : {1, 5, 8, 16}) {
            if (n == 5000 && stride == 1) continue;
            double total = 0;
            for (std::size_t at = 0; at + 1 < n;) {
                const std::size_t fresh = std::min<std::size_t>(at == 0 ? 16 : stride, n - 1 - at);
                const std::size_t length = at == 0 ? fresh : 16;
                IdArray x({1, length}), y({1, length}, kIgnore);
                std::copy_n(tokens.data() + at + fresh - length, length, x.data());
                for (std::size_t i = 0; i < fresh; ++i) y.data()[length - fresh + i] = tokens[at + 1 + i];
                total += static_cast<double>(strided.loss(x, y).item()) * static_cast<double>(fresh);
                at += fresh;
            }
            INFO(n << " tokens, stride " << stride);
            CHECK(evaluate(strided, tokens, {.stride = stride}) ==
                  Approx(total / static_cast<double>(n - 1)).epsilon(1e-6));
        }
        CHECK(evaluate(strided, tokens, {.stride = 0}) == Approx(by_hand(strided, tokens)).epsilon(1e-6));
    }
}

TEST_CASE("evaluate: no dropout or graph, the mode as it was, the same bits with any threads", "[train]") {
    Transformer<float> dropping = model(0.5), plain = model();
    const auto tokens = random_tokens(500);
    for (const bool training : {true, false}) {
        dropping.train(training);
        CHECK(evaluate(dropping, tokens) == evaluate(plain, tokens));
        CHECK(evaluate(dropping, tokens, {.max_tokens = 90}) == evaluate(plain, tokens, {.max_tokens = 90}));
        CHECK(dropping.training() == training);
        const IdArray ids({1, 16}, 1);
        Generator random{1, 0};
        const ConstArray<float> first = dropping.hidden(ids, {.random = &random}).value();
        CHECK(same_bits(dropping.hidden(ids, {.random = &random}).value(), first) == !training);
    }
    CHECK_FALSE(NoGrad::active());
    Transformer<float> gpt = model();
    const auto many = random_tokens(3000);
    check_same_with_any_threads("loss", [&] { return std::vector{of<double>({evaluate(gpt, many)})}; });
}

TEST_CASE("evaluate: can be stopped, within a batch too, and leaves the mode as it was then too", "[train]") {
    Transformer<float> gpt = model();
    int asked = 0;
    const auto tokens = random_tokens(20'000);
    CHECK_ALL(std::isnan(evaluate(gpt, tokens, {.progress = [&](double) { return ++asked < 3; }})), asked == 3);
    CHECK_ALL(gpt.training(), !NoGrad::active());
    Transformer<float> other = model();     // can be stopped within a batch
    const auto window = random_tokens(17);  // one window
    int times = 0;
    CHECK(std::isfinite(evaluate(other, window, {.progress = [&](double) { return ++times > 0; }})));
    const int in_all = times;
    REQUIRE(in_all > 2);
    for (int last = 1; last < in_all; ++last) {
        times = 0;
        CHECK(std::isnan(evaluate(other, window, {.progress = [&](double) { return ++times <= last; }})));
        CHECK(times == last + 1);
    }
}

TEST_CASE("evaluate: with some of the tokens, windows spread evenly over the text", "[train]") {
    Transformer<float> gpt = model();
    const auto tokens = random_tokens(16 * 20 + 5);  // 20 windows of 16 and one of 4
    const auto window = [&](std::size_t w) { return std::span(tokens).subspan(16 * w, w == 20 ? 5 : 17); };
    double total = 0;
    for (const std::size_t w : {0, 5, 10, 15}) total += evaluate(gpt, window(w)) / 4;  // 4 of 21
    CHECK(evaluate(gpt, tokens, {.max_tokens = 64}) == Approx(total).epsilon(1e-6));
    CHECK(evaluate(gpt, tokens, {.max_tokens = 64}) != evaluate(gpt, tokens, {.max_tokens = 48}));
    for (const std::size_t many : {16u * 21, 100'000u})  // all there are
        CHECK(evaluate(gpt, tokens, {.max_tokens = many}) == evaluate(gpt, tokens));
    CHECK(evaluate(gpt, tokens, {.max_tokens = 1}) == Approx(evaluate(gpt, window(0))).epsilon(1e-6));
    std::vector<double> done;  // tells how far it is
    static_cast<void>(evaluate(gpt, random_tokens(20'000), {.progress = [&](double part) {
                                   done.push_back(part);
                                   return true;
                               }}));
    CHECK_ALL(done.size() > 2, done.front() == 0, done.back() < 1, std::is_sorted(done.begin(), done.end()));
}

TEST_CASE("average: known values, swapped in and out", "[train]") {
    Named<float> module({{"weight", of<float>({1, 2}, {1, 0})}});
    FlatParameters<float> flat(module);
    WeightAverage average(flat, 0.5);
    const auto set = [&](float a, float b) { flat.values().data()[0] = a, flat.values().data()[1] = b; };
    set(3, 1);
    average.update(0);  // d = 1 / 10
    CHECK_ALL(average.kept.data()[0] == Approx(2.8), average.kept.data()[1] == Approx(0.9));
    set(0, 0);
    average.update(1000);  // d = 1 / 2
    CHECK(average.kept.data()[0] == Approx(1.4));
    {
        const Averaged scope(average);
        CHECK_ALL(module["weight"].data()[0] == Approx(1.4), average.kept.data()[0] == 0);
    }
    CHECK_ALL(module["weight"].data()[0] == 0, average.kept.data()[0] == Approx(1.4));
    WeightAverage off(flat, 0);
    off.update(3);
    off.swap();
    CHECK_FALSE((off.on() || off.kept.defined()));
}

TEST_CASE("average: it is evaluated and saved, and training itself does not change", "[train]") {
    const ScratchFolder scratch;
    TrainOptions o = small_options();
    Run plain(o);
    plain.to_end();
    o.ema = 0.9;
    Run averaged(o);
    RunFolder folder(scratch.path("out"));
    averaged.to_end(&folder);
    CHECK_ALL(same_bits(plain.weights(), averaged.weights()), averaged.last_val_loss() != plain.last_val_loss());
    const auto saved = load_model(folder.checkpoints().front());
    const std::span<const std::int32_t> val = std::span<const std::int32_t>(averaged.tokens).subspan(540);
    CHECK(evaluate(*saved.model, val) == averaged.last_val_loss());
    o.ema = 0;  // going on without it: from the weights, not from their average
    Run on(o, letters(600), load_model(folder.checkpoints().front()).model);
    on.resume(folder.checkpoints().front(), true);
    CHECK(same_bits(on.weights(), plain.weights()));
}

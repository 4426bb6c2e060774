// Training gives the same bits with any number of threads.
#include "tests/train/run.h"
#include "train/recipes/recipes.h"

using namespace inkling;
using namespace inkling::testing;

TEST_CASE("training: 15 steps of nanoGPT's CPU model, with dropout, give the same weights on 1, 2, 3 and 5 threads",
          "[train][slow]") {
    train::TrainOptions o = train::recipe("nanogpt-cpu").options;
    o.dropout = 0.2;
    o.max_iters = 15;
    o.warmup_iters = 4;
    const auto trained = [&](int threads) {
        const Threads scope(threads);
        Run run(o, letters(20'000));
        for (int i = 0; i < 15; ++i) run.step();
        CHECK(std::isfinite(run.metrics().grad_norm));
        return run.weights();
    };
    const Array<float> one = trained(1);
    for (const int threads : {2, 3, 5}) {
        INFO(threads << " threads");
        CHECK(same_bits(trained(threads), one));
    }
}

TEST_CASE("training: bf16 gives the same weights on any number of threads, and a loss near that of fp32",
          "[train][unsanitized]") {
    train::TrainOptions o = train::recipe("nanogpt-cpu").options;
    o.n_layer = 2, o.n_embd = 64, o.warmup_iters = 2;
    const auto trained = [&](int threads, Precision precision, double& loss) {
        const Threads scope(threads);
        o.precision = precision;
        Run run(o, letters(5'000));
        for (int i = 0; i < 12; ++i) loss = run.step();
        return run.weights();
    };
    double fp32 = 0, bf16 = 0, other = 0;
    const Array<float> full = trained(2, Precision::fp32, fp32), half = trained(1, Precision::bf16, bf16);
    CHECK_FALSE(same_bits(full, half));
    CHECK(std::abs(fp32 - bf16) < 0.01);
    for (const int threads : {2, 3, 5}) CHECK(same_bits(trained(threads, Precision::bf16, other), half));
}

// The speed of the machine, and how long a run takes.
#include "train/recipes/speed.h"

#include "tests/train/run.h"

TEST_CASE("speed: measured, and how long a run takes with evaluations, checkpoints and samples", "[train]") {
    CHECK_ALL(train::product_gflops(Precision::fp32) > 0, train::product_gflops(Precision::bf16) > 0);
    Run plain(small_options());
    const TrainOptions o = small_options();
    const Array<float> before = plain.weights();
    CHECK(train::seconds_per_step(o, *plain.model, plain.tokenizer, plain.tokens, 0.01) > 0);
    CHECK(same_bits(plain.weights(), before));
    TrainOptions timed;  // how long a run takes, with evaluations, checkpoints and samples
    timed.batch_size = 4, timed.block_size = 25, timed.max_iters = 100, timed.val_fraction = 0.1;
    timed.eval_every = 20, timed.eval_iters = 3, timed.save_every = 0, timed.sample_every = 50,
    timed.eval_on_start = true;
    train::Estimate sizes;
    sizes.checkpoint_bytes = 600e6;
    const auto planned = [&] { return train::planned_seconds(timed, sizes, 100'000, 3); };
    // an evaluation of 300 of 10,000 tokens takes a third of what a step of 100 tokens takes for as many, 3 s; a
    // checkpoint 2 s; a sample of 200 tokens as long as training on 1000, 30 s
    CHECK_ALL(planned().training == 300, planned().all == Approx(300 + 6 * 3 + 6 * 2 + 2 * 30));
    timed.save_every = 10, timed.sample_prompt = {"a", "b"}, timed.eval_on_start = false, timed.eval_iters = 0;
    CHECK(planned().all == Approx(300 + 5 * 100 + 10 * 2 + 4 * 30));
    timed.max_time = 30;  // ends it
    CHECK_ALL(planned().all == 30, planned().training < 30);
}

// Spikes of loss and gradient: their definition, and that every run skips the same steps.
#include "train/step/spikes.h"

#include "formats/safetensors/safetensors.h"
#include "tests/train/run.h"

namespace {

// Half of them 1 below, half 1 above `mean`: the standard deviation is 1.
Spikes of_deviation_one(double mean, std::size_t n = Spikes::kWindow) {
    Spikes spikes;
    for (std::size_t i = 0; i < n; ++i) spikes.add(mean + (i % 2 ? 1 : -1), mean / 5 + (i % 2 ? 1 : -1));
    return spikes;
}

// Makes the weights of one row large for a single step, from step 70 on: a spike of loss and gradient.
struct Knock {
    Run& run;
    std::size_t at;
    void operator()() const {
        Array<float> table = run.model->outer[models::ParameterName::final_norm].weight.tensor().value_in_place();
        if (run.state().step == at) table *= 40.0f;
        if (run.state().step == at + 1) table *= 1 / 40.0f;
    }
};

train::TrainOptions options_of(double skip, std::size_t steps = 90) {
    train::TrainOptions o = small_options();
    o.skip_spikes = skip, o.max_iters = o.lr_decay_iters = steps;
    return o;
}

// Steps that were skipped.
std::vector<std::size_t> skipped_of(Run& run, std::size_t until, std::size_t knock_at) {
    std::vector<std::size_t> skipped;
    const Knock knock{run, knock_at};
    while (run.state().step < until) {
        knock();
        run.step();
        if (run.metrics().skipped) skipped.push_back(run.metrics().step);
    }
    knock();
    return skipped;
}

}  // namespace

TEST_CASE("spikes: the z-score is over the last 128 steps, which are text that reads back", "[train]") {
    CHECK(of_deviation_one(10).scores(17, 2).loss == Approx(7));
    CHECK(of_deviation_one(10).scores(10, 8).grad_norm == Approx(6));
    CHECK(of_deviation_one(10).scores(17, 8).largest() == Approx(7));
    CHECK(of_deviation_one(10, 63).scores(1e9, 1e9).largest() == 0);
    CHECK(of_deviation_one(10, 64).scores(17, 2).loss == Approx(7));
    Spikes spikes = of_deviation_one(1000);
    for (std::size_t i = 0; i < Spikes::kWindow; ++i) spikes.add(10 + (i % 2 ? 1 : -1), 1);  // what was before is gone
    CHECK_ALL(spikes.scores(17, 1).loss == Approx(7), of_deviation_one(10).scores(-1000, 2).loss == Approx(-1010));
    CHECK(of_deviation_one(10).scores(-1000, -1000).largest() < 0);
    Spikes same;  // a drop is none, and neither is a small step where all were the same
    for (int i = 0; i < 100; ++i) same.add(2, 0);
    CHECK_ALL(same.scores(2, 0).largest() == 0, same.scores(2.01, 0).loss == Approx(5));
    CHECK(same.scores(4, 0).loss == Approx(1000));
    CHECK(same.scores(2, 1).grad_norm == 0);  // nothing to compare with
    for (int i = 0; i < 128; ++i) same.add(2, 0.5);
    CHECK(same.scores(2, 1).grad_norm == Approx(5));  // twice the usual norm harms nothing
    CHECK(same.scores(2, 1.2).grad_norm == Approx(7));
    Spikes higher = of_deviation_one(10);  // a loss that stays higher soon is none any more
    int told = 0;
    for (int i = 0; i < 100; ++i) {
        told += higher.scores(100, 20).loss > 6;
        higher.add(100, 20);
    }
    CHECK_ALL(told >= 1, told <= 4);
    Spikes written;
    for (int i = 0; i < 150; ++i) written.add(1.0 / (i + 3), 1e-17 * i);
    Spikes again;
    REQUIRE(again.read(written.to_text()));
    CHECK_ALL(again.to_text() == written.to_text(), again.scores(0.1, 3e-15).loss == written.scores(0.1, 3e-15).loss);
    CHECK_ALL(again.scores(0.1, 3e-15).grad_norm == written.scores(0.1, 3e-15).grad_norm, Spikes().to_text().empty());
    CHECK(again.read(""));
    std::string many;
    for (int i = 0; i < 300; ++i) many += "1 ";
    for (const std::string& bad : {std::string("1"), std::string("1 x"), std::string("1  2"), std::string("inf 1"),
                                   std::string("1 nan"), std::string("1,2 3"), many + "1 1"})
        WITH_INFO(bad, CHECK_FALSE(again.read(bad)));
}

TEST_CASE("spikes: --skip-spikes leaves weights and moments as they are once", "[train]") {
    Run run(options_of(6));
    CHECK(skipped_of(run, 75, 75).empty());
    const Array<float> before = run.weights();
    const std::uint64_t updates = run.loop.step().optimizer->updates;
    CHECK_ALL(skipped_of(run, 76, 75) == std::vector<std::size_t>{76}, run.metrics().z.largest() > 6);
    CHECK_ALL(std::isfinite(run.metrics().loss), run.loop.step().optimizer->updates == updates);
    check_close(run.weights(), before, 1e-6);  // but for what the knock rounded
    CHECK_ALL(skipped_of(run, 90, 75).empty(), run.loop.step().optimizer->updates == 89);

    Run free(options_of(0));
    CHECK_ALL(skipped_of(free, 90, 75).empty(), free.loop.step().optimizer->updates == 90);
}

TEST_CASE("spikes: every number of threads, and a run that is resumed, skips the same steps", "[train][unsanitized]") {
    check_same_with_any_threads("spikes",
                                [] {
                                    Run run(options_of(0.2));
                                    const auto skipped = skipped_of(run, 90, 75);
                                    CHECK(skipped.size() >= 2);  // a low bound, so that some come by chance
                                    return std::vector{run.weights(), of<float>({skipped.begin(), skipped.end()})};
                                },
                                {2, 4});
    train::TrainOptions o = options_of(0.2);
    o.val_fraction = 0;
    Run whole(o);
    const auto all = skipped_of(whole, 90, 1000);
    for (const std::size_t stop : {60, 70, 76, 89}) {
        INFO("stopped after step " << stop);
        const ScratchFolder scratch;
        train::RunFolder folder(scratch.path("out"));
        o.max_iters = stop;
        Run(o).to_end(&folder);
        const fs::path newest = folder.checkpoints().front();
        o.max_iters = 90;
        Run resumed(o, letters(600), models::load_model(newest).model);
        CHECK(resumed.resume(newest).empty());
        REQUIRE(resumed.state().step == stop);
        std::vector<std::size_t> rest = all;
        std::erase_if(rest, [&](std::size_t step) { return step <= stop; });
        CHECK_ALL(skipped_of(resumed, 90, 1000) == rest, same_bits(resumed.weights(), whole.weights()));
    }
}

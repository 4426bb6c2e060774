// The moving average of weights, and its use in evaluation, saving and resuming.
#include "train/weight_average.h"

#include "formats/files/file.h"
#include "tests/support/scratch_folder.h"
#include "tests/train/parameters.h"
#include "tests/train/run.h"
#include "train/evaluate.h"

using namespace inkling;
using namespace inkling::testing;
using train::WeightAverage;

TEST_CASE("average: known values, swapped in and out", "[train]") {
    Named<float> module({{"weight", of<float>({1, 2}, {1, 0})}});
    nn::FlatParameters<float> flat(module);
    WeightAverage average(flat, 0.5);
    const auto set = [&](float a, float b) { flat.values().data()[0] = a, flat.values().data()[1] = b; };
    set(3, 1);
    average.update(0);  // d = 1 / 10
    CHECK(average.kept.data()[0] == Approx(2.8));
    CHECK(average.kept.data()[1] == Approx(0.9));
    set(0, 0);
    average.update(1000);  // d = 1 / 2
    CHECK(average.kept.data()[0] == Approx(1.4));
    {
        const train::Averaged scope(average);
        CHECK(module["weight"].data()[0] == Approx(1.4));
        CHECK(average.kept.data()[0] == 0);
    }
    CHECK(module["weight"].data()[0] == 0);
    CHECK(average.kept.data()[0] == Approx(1.4));
    WeightAverage off(flat, 0);
    off.update(3);
    off.swap();
    CHECK_FALSE((off.on() || off.kept.defined()));
}

TEST_CASE("average: it is evaluated and saved, and training itself does not change", "[train]") {
    const ScratchFolder scratch;
    train::TrainOptions o = small_options();
    Run plain(o);
    plain.to_end();
    o.ema = 0.9;
    Run averaged(o);
    train::RunFolder folder(scratch.path("out"));
    averaged.to_end(&folder);
    CHECK(same_bits(plain.weights(), averaged.weights()));
    CHECK(averaged.last_val_loss() != plain.last_val_loss());
    const auto saved = models::load_model(folder.checkpoints().front());
    const std::span<const std::int32_t> val = std::span<const std::int32_t>(averaged.tokens).subspan(540);
    CHECK(train::evaluate(*saved.model, val) == averaged.last_val_loss());
    o.ema = 0;  // going on without it: from the weights, not from their average
    Run on(o, letters(600), models::load_model(folder.checkpoints().front()).model);
    on.resume(folder.checkpoints().front(), true);
    CHECK(same_bits(on.weights(), plain.weights()));
}

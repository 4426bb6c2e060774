// With every optimizer, and with averaged weights: stopped and resumed, a run ends with the same bits as a straight
// one.
#include "formats/files/file.h"
#include "tests/data/scratch_folder.h"
#include "tests/train/run.h"

using namespace inkling;
using namespace inkling::testing;
using data::tests::ScratchFolder;
using train::OptimizerKind;
namespace fs = std::filesystem;

namespace {

train::TrainOptions options_with(OptimizerKind optimizer, double ema, std::size_t steps) {
    train::TrainOptions o = small_options();
    o.optimizer = optimizer;
    o.ema = ema;
    o.max_iters = steps;  // the schedule ends at lr_decay_iters in any case
    o.muon_split_heads = ema > 0;
    o.precision = ema > 0 ? Precision::bf16 : Precision::fp32;
    o.arch = ema > 0 ? "nanochat" : "gpt2";
    o.schedule = train::ScheduleKind::wsd;
    o.learning_rate = 0.02;
    return o;
}

void train_in(const std::string& out, const train::TrainOptions& o) {
    train::RunFolder folder(out);
    std::unique_ptr<models::Transformer<float>> from;
    if (!folder.checkpoints().empty()) from = models::load_model(folder.checkpoints().front(), o.dropout).model;
    const bool resumed = from != nullptr;
    Run run(o, letters(600), std::move(from));
    if (resumed) run.resume(folder.checkpoints().front());
    run.to_end(&folder);
}

}  // namespace

TEST_CASE("resume: exact with every optimizer, averaged or not, on other numbers of threads", "[train]") {
    for (const auto& [optimizer, name] : names(OptimizerKind{})) {
        for (const double ema : {0.0, 0.8}) {
            INFO(name << ", --ema " << ema);
            const ScratchFolder scratch;
            {
                const Threads one(1);
                train_in(scratch.path("straight"), options_with(optimizer, ema, 20));
            }
            for (const std::size_t k : {1, 8, 17, 20}) {
                const Threads some(static_cast<int>(1 + k % 3));
                train_in(scratch.path("stopped"), options_with(optimizer, ema, k));
            }
            const fs::path a = scratch.path("straight/step-000020"), b = scratch.path("stopped/step-000020");
            CHECK(formats::read_file(a / "model.safetensors") == formats::read_file(b / "model.safetensors"));
            // one more step from each: nothing of the state is missing
            Run x(options_with(optimizer, ema, 25), letters(600), models::load_model(a, 0.0).model);
            Run y(options_with(optimizer, ema, 25), letters(600), models::load_model(b, 0.0).model);
            x.resume(a);
            y.resume(b);
            CHECK(x.step() == y.step());
            CHECK(same_bits(x.weights(), y.weights()));
        }
    }
}

TEST_CASE("resume: with another optimizer it is refused", "[train]") {
    const ScratchFolder scratch;
    train_in(scratch.path("out"), options_with(OptimizerKind::muon, 0, 3));
    const fs::path checkpoint = scratch.path("out/step-000003");
    Run run(options_with(OptimizerKind::adamw, 0, 9), letters(600), models::load_model(checkpoint).model);
    CHECK_THROWS_WITH(run.resume(checkpoint),
                      ContainsSubstring("was trained with --optimizer muon: go on with it, not with adamw"));
}

TEST_CASE("resume: averaging may begin late", "[train]") {
    const ScratchFolder scratch;
    train_in(scratch.path("out"), options_with(OptimizerKind::adamw, 0, 5));
    Run run(options_with(OptimizerKind::adamw, 0.9, 9), letters(600),
            models::load_model(scratch.path("out/step-000005")).model);
    run.resume(scratch.path("out/step-000005"), true);
    CHECK_NOTHROW(run.to_end());
    CHECK(std::isfinite(run.last_val_loss()));
}

TEST_CASE("optimizers: each of them learns, on few threads and many alike", "[train]") {
    for (const auto& [optimizer, rate] : {std::pair{OptimizerKind::adamw, 0.02}, std::pair{OptimizerKind::muon, 0.02},
                                          std::pair{OptimizerKind::sgd, 0.1}}) {
        const auto trained = [&, name = optimizer, lr = rate](int threads, double& last) {
            const Threads scope(threads);
            train::TrainOptions o = small_options();
            o.optimizer = name;
            o.learning_rate = lr;
            Run run(o);
            for (int i = 0; i < 20; ++i) last = run.step();
            return run.weights();
        };
        double last = 0, other = 0;
        const Array<float> one = trained(1, last);
        INFO(name_of(optimizer) << ", last loss " << last);
        CHECK(last < 2.2);  // from ln(11) = 2.4
        for (const int threads : {2, 3}) CHECK(same_bits(trained(threads, other), one));
    }
}

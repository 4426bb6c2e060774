// The events that the loop reports to callbacks, and the hook that combines gradients of several processes.
#include "train/callbacks.h"

#include "tests/train/run.h"
#include "train/run/metrics.h"
#include "train/settings/settings.h"

namespace {

// "3 done", "3 evaluated", ...: the step and the event.
struct Events : train::Callback {
    std::vector<std::string> all;
    void add(const TrainingLoop& loop, const char* event) {
        all.push_back(std::to_string(loop.metrics().step) + " " + event);
    }
    void step_refused(TrainingLoop& loop) override { add(loop, "refused"); }
    void step_done(TrainingLoop& loop) override { add(loop, loop.log_due() ? "done, log" : "done"); }
    void evaluated(TrainingLoop& loop) override { add(loop, "evaluated"); }
    void checkpoint_wanted(TrainingLoop& loop) override { add(loop, "checkpoint"); }
    void sample_wanted(TrainingLoop& loop) override { add(loop, "sample"); }
    void stopped(TrainingLoop& loop) override { add(loop, "stopped"); }
};

train::TrainOptions options(std::size_t steps) {
    train::TrainOptions o = small_options();
    o.max_iters = steps, o.eval_every = 0, o.save_every = 3, o.sample_every = 2, o.log_every = 4;
    return o;
}

}  // namespace

TEST_CASE("callbacks: are told of steps, evaluations, checkpoints, samples, refusals and the end", "[train]") {
    Run run(options(5));
    Events events, other;
    run.loop.run({&events, &other});
    const std::vector<std::string> expected = {"1 done, log",  "2 done",       "2 sample", "3 done, log",
                                               "3 checkpoint", "4 done, log",  "4 sample", "5 done, log",
                                               "5 evaluated",  "5 checkpoint", "5 stopped"};
    CHECK_ALL(events.all == expected, other.all == expected, std::isfinite(run.last_val_loss()));
    Run stopped(options(5));  // a loop that is stopped wants a checkpoint of the step that it reached
    Events told;
    stopped.loop.run({&told}, [&] { return stopped.state().step == 2; });
    CHECK(told.all == std::vector<std::string>{"1 done, log", "2 done", "2 checkpoint", "2 stopped"});
    Run bad(options(20));
    bad.step();
    bad.model->outer[models::ParameterName::token_table].weight.tensor().value_in_place().data()[0] = std::nanf("");
    Events refused;
    CHECK_THROWS_AS(bad.loop.run({&refused}), train::Diverged);
    CHECK(refused.all == std::vector<std::string>{"2 refused", "2 done", "2 sample", "3 refused", "3 done, log",
                                                  "3 checkpoint", "4 refused", "4 done, log", "4 sample", "5 refused",
                                                  "5 done", "6 refused"});
}

TEST_CASE("callbacks: samples change nothing, and a run's folder gets its files when they are wanted", "[train]") {
    train::TrainOptions o = options(6);
    o.dropout = 0.2;
    Run plain(o), sampled(o);
    std::vector<std::string> texts;
    train::SampleWriter writer(sampled.tokenizer, [&](const std::string& prompt, const std::string& text) {
        CHECK(prompt.empty());
        texts.push_back(text);
    });
    plain.loop.run(), sampled.loop.run({&writer});
    REQUIRE(texts.size() == 2);
    CHECK_ALL(texts[0].size() == 200, same_bits(plain.weights(), sampled.weights()));
    const ScratchFolder scratch;
    Run run(options(4));
    train::RunFolder folder(scratch.path("out"));
    train::CheckpointSaver saver(folder, run.tokenizer, run.loop);
    CHECK(formats::read_file(scratch.path("out/config.toml")) == train::to_toml(run.options));
    run.loop.run({&saver});
    REQUIRE(folder.checkpoints().size() == 2);
    CHECK(models::load_model(folder.checkpoints().front()).model->parameter_count() == run.model->parameter_count());
}

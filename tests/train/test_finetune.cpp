// The choices of the recipe finetune for a text, a model and the time, and the evaluation before the first step.
#include "tests/train/config_of.h"
#include "tests/train/run.h"
#include "train/evaluate.h"
#include "train/recipes/fit.h"

namespace {

// A model of 4 layers, of this width and context.
models::Architecture tuned_model(std::size_t width = 128, std::size_t context = 256) {
    TrainOptions o = train::recipe("fast").options;
    o.n_embd = width, o.n_head = 2, o.block_size = context;
    return o.model_config(512);
}

TrainOptions tuned(const Budget& budget, const models::Architecture& model, const std::vector<std::string>& given = {},
                   const TrainOptions& options = train::recipe("finetune").options) {
    train::Config c = config_of("finetune", given, options);
    c.options.init_from = "model";
    train::fit_given(c);
    train::fit_tuning(budget, model, c);
    CHECK_NOTHROW(c.options.validate());
    return c.options;
}

struct Seen : train::Callback {
    std::vector<std::pair<std::size_t, double>> evaluations;
    std::vector<std::size_t> checkpoints;
    void evaluated(train::TrainingLoop& loop) override {
        evaluations.emplace_back(loop.metrics().step, *loop.metrics().val_loss);
    }
    void checkpoint_wanted(train::TrainingLoop& loop) override { checkpoints.push_back(loop.state().step); }
};

}  // namespace

TEST_CASE("finetune: a model that exists is the default's recipe, and its first evaluation is its own", "[train]") {
    CHECK(train::default_recipe(false, true).name == "finetune");
    CHECK(train::default_recipe(true, true).name == "finetune");
    CHECK(train::default_recipe(true).name == "stories");
    const train::Recipe recipe = train::recipe("finetune");
    CHECK(recipe.fits == train::Fits::model);
    CHECK(recipe.options.eval_on_start);
}

TEST_CASE("finetune: rates fall with the width, and adapters have their own", "[train]") {
    const Budget budget{60, 900, 100'000};
    const TrainOptions small = tuned(budget, tuned_model(128)), narrow = tuned(budget, tuned_model(1024)),
                       wide = tuned(budget, tuned_model(2048));
    check_settings(small, "optimizer = 'muon'\nembedding_lr = 0\nhead_lr = 0");  // its update is cheap
    CHECK(small.learning_rate < 0.01);
    check_settings(narrow, "optimizer = 'adamw'");
    check_settings(wide, "optimizer = 'adamw'\nembedding_lr = 0\nhead_lr = 0\nmin_lr = 0");
    CHECK(wide.learning_rate > 0);
    CHECK(wide.learning_rate < narrow.learning_rate);
    Budget answers = budget;
    answers.longest_document = 100, answers.answers = true;
    const TrainOptions quick = tuned(answers, tuned_model(128));
    CHECK(quick.learning_rate > small.learning_rate);
    CHECK(quick.embedding_lr > quick.head_lr);
    CHECK(quick.head_lr > 0);
    const train::Config run = config_of("finetune", {}, quick);
    CHECK(train::planned_steps(answers, 1e9, run) > train::planned_steps(budget, 1e9, run));
    TrainOptions o = train::recipe("finetune").options;
    o.lora_rank = 4;
    const TrainOptions adapters = tuned(budget, tuned_model(2048), {"lora-rank"}, o);
    CHECK(adapters.learning_rate > wide.learning_rate);
    check_settings(adapters, "weight_decay = 0\noptimizer = 'adamw'");
    const TrainOptions answering = tuned(answers, tuned_model(128), {"lora-rank"}, o);
    check_settings(answering, "weight_decay = 0\noptimizer = 'muon'");
    CHECK(answering.learning_rate > answering.head_lr);
    CHECK(answering.head_lr > 0);
    CHECK(tuned(answers, tuned_model(2048), {"lora-rank"}, o).optimizer == OptimizerKind::adamw);
    CHECK(tuned(answers, tuned_model(128), {"lora-rank", "optimizer"}, adapters).optimizer == OptimizerKind::adamw);
    o.learning_rate = 0.5, o.batch_size = 3, o.block_size = 7;
    const TrainOptions given =
        tuned(budget, tuned_model(), {"learning-rate", "batch-size", "block-size", "lora-rank"}, o);
    check_settings(given, "learning_rate = 0.5\nbatch_size = 3\nblock_size = 7");
    for (const char* other : {"muon", "sgd"}) {
        TrainOptions with = train::recipe("finetune").options;
        with.optimizer = *find_named<OptimizerKind>(other);
        CHECK(tuned(budget, tuned_model(), {"optimizer"}, with).learning_rate > 0);
    }
}

TEST_CASE("finetune: rows are no longer than the context, the text or the documents ask for", "[train]") {
    for (const std::size_t context : {8, 64, 256, 8192}) {
        for (const std::size_t tokens : {6, 100, 2'000, 50'000, 10'000'000}) {
            const TrainOptions o = tuned({60, 900, tokens}, tuned_model(128, context));
            CHECK(o.block_size >= 1);
            CHECK(o.block_size <= context);
            CHECK(4 * o.block_size <= std::max<std::size_t>(4, tokens));
            CHECK(o.batch_size >= 1);
            CHECK(o.batch_size * o.block_size <= 8192);
        }
        Budget documents{60, 900, 100'000};
        documents.longest_document = 90;
        const TrainOptions o = tuned(documents, tuned_model(128, context));
        CHECK(o.block_size <= context);
        CHECK(o.block_size <= 512);
        CHECK(o.block_size >= std::min<std::size_t>(context, 89));
        documents.longest_document = 700;
        CHECK(tuned(documents, tuned_model(128, context)).block_size >= std::min<std::size_t>(context, 699));
    }
    // a large text has large batches, a slow machine and a short time have small ones
    const auto batch = [](double seconds, std::size_t tokens) {
        const TrainOptions o = tuned({seconds, 900, tokens}, tuned_model());
        return o.batch_size * o.block_size;
    };
    CHECK(batch(60, 10'000) < batch(60, 1'000'000));
    CHECK(batch(0.5, 1'000'000) < batch(60, 1'000'000));
}

TEST_CASE("finetune: steps end with the time or with the epochs, and evaluations follow from them", "[train]") {
    const TrainOptions o = tuned({60, 900, 100'000}, tuned_model());
    const auto steps = [&](double seconds, std::size_t tokens) {
        return train::planned_steps({seconds, 900, tokens}, seconds / 0.01, config_of("finetune", {}, o));
    };
    CHECK(steps(1, 100'000'000) == 100);
    CHECK(steps(1e6, 1'000'000) > steps(1e6, 100'000));
    CHECK(steps(1e6, 100'000) < 1'000'000);
    CHECK(steps(1e6, 50) >= 40);  // so short a text needs them
    CHECK(steps(1e-6, 100'000) == 1);
    for (const std::size_t iters : {1, 3, 50, 2'000})
        for (const std::size_t tokens : {50, 20'000, 1'000'000})
            for (const double part : {0.0, 0.1}) {
                train::Config run = config_of("finetune", {}, o);
                run.options.max_iters = iters, run.options.val_fraction = part;
                train::fit_to_steps({60, 900, tokens}, run);
                CHECK_NOTHROW(run.options.validate());
                CHECK(run.options.eval_every >= 1);
                CHECK(run.options.patience >= 1);
                CHECK(run.options.patience * run.options.eval_every < 2 * iters + 8);
            }
    train::Config given = config_of("finetune", {"eval-every", "patience", "eval-iters", "ema"}, o);
    train::TrainOptions& own = given.options;
    own.max_iters = 100, own.eval_every = 7, own.patience = 0, own.eval_iters = 3, own.ema = 0.5;
    const TrainOptions before = own;
    train::fit_to_steps({60, 900, 100'000}, given);
    for (const train::Setting* const s : train::differing(own, before)) CHECK_FALSE(given.is_given(s->name));
}

TEST_CASE("training: --eval-on-start evaluates before the first step, and keeps a model that is best so", "[train]") {
    train::TrainOptions o = small_options();
    o.eval_on_start = true, o.eval_every = 2, o.save_every = 100, o.max_iters = 6;
    Run run(o);
    const Array<float> before = run.weights();
    const double loss = train::evaluate(*run.model, data::split_tokens(run.tokens, o.val_fraction).val);
    Seen seen;
    const ScratchFolder scratch;
    train::MetricsFile lines(scratch.path("metrics.jsonl"), 0);
    run.loop.run({&seen, &lines});
    REQUIRE(seen.evaluations.size() == 4);
    const auto first = lines_in(scratch.path("metrics.jsonl")).at(0);
    check_holds(first, "step", 0, "val_loss", loss, "train_s", 0);
    CHECK_FALSE(first.contains("loss"));
    CHECK(seen.evaluations[0] == std::pair(std::size_t{0}, loss));
    CHECK(seen.checkpoints.front() == 0);
    CHECK(run.loop.has_best());
    CHECK(run.state().best_step > 0);
    // a run that only gets worse stops, and its best step is 0
    o.learning_rate = o.min_lr = 3, o.warmup_iters = 0, o.max_iters = 60, o.patience = 4;
    Run worse(o);
    Seen told;
    worse.loop.run({&told});
    CHECK(worse.state().best_step == 0);
    CHECK(worse.loop.has_best());
    CHECK(worse.loop.stop_reason() == train::StopReason::patience);
    CHECK(worse.state().step == 8);
    CHECK(worse.state().best_val_loss == told.evaluations[0].second);
    // without a validation part there is nothing to evaluate
    o.val_fraction = 0, o.max_iters = 2;
    Run none(o);
    Seen nothing;
    none.loop.run({&nothing});
    CHECK(nothing.evaluations.empty());
    CHECK_FALSE(none.loop.has_best());
    CHECK(nothing.checkpoints == std::vector<std::size_t>{2});
    // resumed from that checkpoint, the run is the same
    o.val_fraction = 0.1, o.learning_rate = 1e-3, o.max_iters = 4;
    Run whole(o), cut(o), rest(o);
    train::RunFolder folder(scratch.path("run"));
    train::CheckpointSaver saver(folder, cut.tokenizer, cut.loop);
    cut.loop.run({&saver}, [&] { return !folder.checkpoints().empty(); });
    CHECK(cut.state().step == 0);
    CHECK(rest.resume(folder.checkpoints().front()).empty());
    CHECK(rest.loop.has_best());
    CHECK(rest.state().step == 0);
    Seen again;
    rest.loop.run({&again});
    CHECK(again.evaluations.front().first == 2);  // it was evaluated already
    whole.to_end();
    CHECK(same_bits(rest.weights(), whole.weights()));
}

TEST_CASE("training: rows that are shorter than the model's context", "[train]") {
    train::TrainOptions o = small_options();
    o.max_iters = 3;
    auto model = std::make_unique<models::Transformer<float>>(
        o.model_config(data::CharTokenizer::from_text(letters(600)).vocab_size()), Generator{o.seed, 0});
    o.block_size = 5;
    Run run(o, letters(600), std::move(model));
    CHECK(run.model->config.block_size == 8);
    CHECK(run.loop.tokens_per_step() == 20);
    run.to_end();
    const auto val = data::split_tokens(run.tokens, o.val_fraction).val;
    CHECK(run.last_val_loss() == train::evaluate(*run.model, val, {.length = 5}));
    CHECK(run.last_val_loss() != train::evaluate(*run.model, val));
}

// The training loop: the same losses as PyTorch, learning, and the inputs that a step depends on.
#include "data/sampler.h"
#include "models/transformer.h"
#include "nn/init.h"
#include "tests/train/run.h"
#include "train/evaluate.h"
#include "train/settings/settings.h"

TEST_CASE("PyTorch agrees: 30 steps of training from the same weights on the same windows", "[train]") {
    const auto numbers = reference("training.json");
    TrainOptions o;
    o.n_layer = numbers["n_layer"], o.n_head = numbers["n_head"], o.n_embd = numbers["n_embd"];
    o.block_size = numbers["block_size"], o.batch_size = numbers["batch_size"], o.bias = true;
    o.learning_rate = numbers["learning_rate"], o.min_lr = numbers["min_lr"];
    o.warmup_iters = numbers["warmup_iters"], o.grad_clip = numbers["grad_clip"];
    o.weight_decay = numbers["weight_decay"], o.sampler = SamplerKind::sequential;
    const auto losses = numbers["losses"].get<std::vector<double>>();
    const auto norms = numbers["grad_norms"].get<std::vector<double>>();
    const auto tokens = numbers["tokens"].get<std::vector<std::int32_t>>();
    REQUIRE(losses.size() == 30);
    o.max_iters = losses.size();

    Transformer<float> model(o.model_config(numbers["vocab_size"]));
    std::size_t k = 0;
    for (auto& [name, p] : model.parameters()) {  // the formula of make_training_reference.py
        float* const values = p.value_in_place().data();
        const bool gain = name.find(".ln_") != std::string::npos && name.ends_with("weight");
        for (std::size_t i = 0; i < p.size(); ++i)
            values[i] = static_cast<float>(
                gain + 0.05 * std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * static_cast<double>(k)));
        ++k;
    }
    const auto sampler = make_sampler(o.sampler, tokens, o.batch_size, o.block_size, o.seed);
    TrainingStep step(o, model, *sampler);
    double worst_loss = 0, worst_norm = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const StepResult result = step.run(i);
        worst_loss = std::max(worst_loss, std::abs(result.loss - losses[i]));
        worst_norm = std::max(worst_norm, std::abs(result.grad_norm / norms[i] - 1));
    }
    CHECK_ALL(worst_loss < 2e-5, worst_norm < 2e-3);
    for (const auto& [name, p] : model.parameters()) {
        INFO(name);
        // a key's bias changes no weight of attention: its gradient is rounding noise, which AdamW makes large
        if (name.ends_with("c_attn.bias")) continue;
        CHECK(gradient_norm(p.value().clone()) == Approx(numbers["final_norms"][name].get<double>()).epsilon(1e-4));
    }
}

TEST_CASE("training: two halves of a batch are the whole batch, whose metrics are those of the step", "[train]") {
    for (const auto& [sampler, name] : names(SamplerKind{})) {
        TrainOptions whole = small_options();
        whole.sampler = sampler, whole.batch_size = 12;
        TrainOptions halves = whole;
        halves.batch_size = 6, halves.gradient_accumulation_steps = 2;
        Run a(whole), b(halves);
        REQUIRE(same_bits(a.weights(), b.weights()));
        for (int step = 0; step < 5; ++step) {
            INFO(name << ", step " << step);
            CHECK(a.step() == Approx(b.step()).margin(1e-5));
            CHECK(a.metrics().grad_norm == Approx(b.metrics().grad_norm).epsilon(1e-5));
        }
        check_close(a.weights(), b.weights(), 1e-4);
    }
    Run run(small_options());
    const double loss = run.step();
    const Metrics& m = run.metrics();
    CHECK_ALL(m.step == 1, m.loss == loss, m.grad_norm > 0, m.tok_s > 0, m.train_s > 0, m.lr == Approx(3e-3 / 4));
    run.step();
    CHECK_ALL(m.step == 2, m.lr == Approx(2 * 3e-3 / 4), run.state().step == 2);
    TrainOptions o = small_options();
    o.beta1 = 0, o.beta2 = 0, o.weight_decay = 0, o.learning_rate = o.min_lr = 1e-3, o.warmup_iters = 0;
    o.grad_clip = 1e-12;  // far below AdamW's epsilon: steps become p -= lr g / eps
    Run clipped(o);       // the gradient that is applied is no longer than the clip
    const Array<float> before = clipped.weights();
    clipped.step();
    CHECK(clipped.metrics().grad_norm > 0.1);  // as it was before clipping
    const Array<float> moved = clipped.weights() - before;
    CHECK(gradient_norm(moved) < 1e-3 * 1e-12 / 1e-8 * 1.05);
}

TEST_CASE("training: windows that begin with paragraphs overlap by half, a short text is refused", "[train]") {
    std::string text;
    for (std::uint64_t i = 0; i < 40; ++i) text += letters(7 + i % 9, i) + "\n\n";
    TrainOptions o = small_options();
    o.max_iters = 3;
    const auto val_loss = [&](SamplerKind sampler, std::size_t stride) {
        o.sampler = sampler;
        Run run(o, text);
        run.to_end();
        const auto val = split_tokens(run.tokens, o.val_fraction).val;
        CHECK(run.last_val_loss() == evaluate(*run.model, val, {.stride = stride}));
        return run.last_val_loss();
    };
    CHECK(val_loss(SamplerKind::paragraphs, 4) != val_loss(SamplerKind::random, 0));
    CHECK_THROWS_WITH(Run(small_options(), "abcdefgh"), contains("--block-size"));
    CHECK_THROWS_AS(Run(small_options(), "abcdefgh"), BadInput);
    CHECK_THROWS_AS(Run(small_options(), letters(10)), BadInput);  // one token for validation
    TrainOptions sampled = small_options();
    sampled.eval_iters = 2;
    CHECK_NOTHROW(Run(sampled, letters(60)));  // 6 tokens, fewer than were asked for
}

TEST_CASE("training: stops at max_time, or when the validation loss has not improved for a while", "[train]") {
    TrainOptions o = small_options();
    o.max_iters = 1'000'000'000, o.max_time = 0.05;
    Run run(o);
    run.to_end();
    CHECK_ALL(run.loop.stop_reason() == StopReason::max_time, run.state().step > 1);
    CHECK(run.state().step < o.max_iters);
    struct Slow : Callback {
        void evaluated(TrainingLoop&) override { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
    } slow;  // evaluations take nearly all of the time, and count
    o.eval_every = 1, o.max_time = 0.3;
    Run evaluated(o);
    evaluated.loop.run({&slow});
    CHECK_ALL(evaluated.state().step > 1, evaluated.state().step < 15, std::isfinite(run.last_val_loss()));
    TrainOptions patient = small_options();  // stops when the validation loss has not improved for a while
    patient.eval_every = 5, patient.patience = 3, patient.max_iters = 10'000, patient.lr_decay_iters = 0;
    patient.learning_rate = 0.05;  // learns its few letters by heart
    Run waiting(patient, letters(300));
    waiting.to_end();
    CHECK_ALL(waiting.loop.stop_reason() == StopReason::patience, waiting.state().best_step > 0);
    CHECK(waiting.state().step == waiting.state().best_step + 15);
    CHECK(waiting.state().val_loss > waiting.state().best_val_loss);
}

TEST_CASE("training: every validation loss of a run is of the same tokens", "[train]") {
    const std::string text = letters(4000);
    TrainOptions o = small_options();
    o.eval_every = 11, o.eval_iters = 2, o.max_iters = 44, o.eval_on_start = true;
    o.learning_rate = o.min_lr = 0;  // the model stays as it is
    struct Losses : Callback {
        void evaluated(TrainingLoop& loop) override {
            tokens.push_back(loop.metrics().val_tokens), losses.push_back(*loop.metrics().val_loss);
            bits.push_back(*loop.metrics().bits_per_byte / *loop.metrics().val_loss);
        }
        std::vector<std::size_t> tokens;
        std::vector<double> losses, bits;
    } seen;
    Run run(o, text);
    CHECK(run.loop.eval_tokens() == 64);
    run.loop.run({&seen});
    CHECK(seen.tokens == std::vector<std::size_t>(5, 64));
    const double loss = evaluate(*run.model, run.loop.text().val, {.max_tokens = 64});
    CHECK(seen.losses == std::vector<double>(5, loss));
    for (const double ratio : seen.bits) CHECK(ratio == Approx(1 / std::log(2)));  // a token is a byte
    CHECK_ALL(run.state().val_loss == loss, run.state().best_val_loss == loss, run.last_val_loss() == loss);
    o.eval_iters = 3;  // other tokens than those of the checkpoint's best loss
    CHECK(changed_settings(parse_toml(run.state().config, "then"), o) ==
          std::vector<std::string>{"--eval-iters was 2, is 3"});
}

TEST_CASE("training: the clock changes the plan of a run whose time is limited", "[train][unsanitized]") {
    TrainOptions o = small_options();
    o.lr_decay_iters = 0, o.max_iters = 1'000'000'000, o.plan.adjustable = true, o.max_time = kEmulated ? 6 : 0.6;
    struct Replans : Callback {
        void replanned(TrainingLoop& loop) override { steps.push_back(loop.options().max_iters); }
        std::vector<std::size_t> steps;
    };
    const auto replans_of = [](Run& run) {
        Replans told;
        run.loop.run({&told});
        return told.steps;
    };
    Run run(o);
    const std::vector<std::size_t> steps = replans_of(run);
    REQUIRE(!steps.empty());
    const TrainOptions& now = run.loop.options();
    CHECK_ALL(now.max_iters == steps.back(), now.max_iters < 1'000'000, now.plan.changes.size() == steps.size());
    CHECK_ALL(now.plan.adjustable, now.plan.changes[0].steps_before == 1'000'000'000);
    CHECK(run.state().config == to_toml(now));
    o.plan.adjustable = false;  // steps that the user asked for stay
    Run asked(o);
    CHECK(replans_of(asked).empty());
    o.plan.adjustable = true, o.max_time = 0, o.max_iters = 200;
    Run untimed(o);
    CHECK(replans_of(untimed).empty());
    o.max_time = 0.6, o.max_iters = 100, o.plan.changes = {{1'000'000, 100}};  // it repeats a run up to there
    Run repeated(o);
    CHECK(replans_of(repeated).empty());
}

TEST_CASE("training: a change of plan replaces those from its step on, and is repeated by the config", "[train]") {
    TrainOptions o = small_options();
    o.max_iters = 60, o.plan.changes = {{3, 30}, {5, 40}, {9, 50}};
    Run run(o);
    for (int i = 0; i < 5; ++i) run.loop.run_step();
    run.loop.replan(80, 45);
    CHECK(run.loop.options().plan.changes == std::vector<RunPlan::Change>{{3, 30}, {5, 45}});
    CHECK(run.loop.options().max_iters == 80);
    TrainOptions again = small_options();
    again.lr_decay_iters = 0, again.max_iters = 60, again.plan.changes = {{12, 30}};
    const auto rates = [](const TrainOptions& options) {
        struct Rates : Callback {
            void step_done(TrainingLoop& loop) override { all.push_back(loop.metrics().lr); }
            std::vector<double> all;
        } told;
        Run once(options);
        once.loop.run({&told});
        return told.all;
    };
    const std::vector<double> replanned = rates(again);
    again.plan = {}, again.max_iters = 30;
    const std::vector<double> before = rates(again);
    again.max_iters = 60;
    const std::vector<double> after = rates(again);
    for (std::size_t i = 0; i < 12; ++i) CHECK(replanned[i] == before[i]);
    for (std::size_t i = 14; i < 60; ++i) CHECK(replanned[i] == after[i]);  // a twentieth of 48 steps between
    CHECK_ALL(replanned[12] > before[12], replanned[12] < after[12]);
}

// A run's surroundings do not change it: FTZ and DAZ of a host program, memory with any contents, the number of
// threads.
#include "engine/base/float_mode.h"
#include "generate/sequence.h"
#include "tests/train/run.h"
#include "train/evaluate.h"
#include "train/recipes/recipes.h"

namespace {

struct Outcome {
    Array<float> weights;
    double loss, val_loss;
    std::string text;
};

// Ten steps with weights so small that their squares are subnormal, an evaluation, and a text.
Outcome outcome(train::TrainOptions o, float factor) {
    o.n_layer = 2, o.dropout = 0.1, o.max_iters = 10;
    Run run(o);
    for (auto& [name, p] : run.model->parameters()) {
        Array<float> values = p.value_in_place();
        if (p.rank() == 2) values *= factor;
    }
    run.to_end();
    run.model->eval();
    generate::GenerateOptions how;
    how.max_tokens = 20;
    const auto inference = std::make_shared<const models::InferenceModel>(*run.model);
    generate::Sequence sequence(inference, &run.tokenizer, how);
    sequence.add("abc");
    return {run.weights(), run.metrics().loss, run.last_val_loss(), sequence.write()};
}

void check_same(const Outcome& a, const Outcome& b) {
    CHECK_ALL(same_bits(a.weights, b.weights), a.loss == b.loss, a.val_loss == b.val_loss, a.text == b.text);
}

}  // namespace

TEST_CASE("surroundings: a program's FTZ and DAZ, and NaN in new memory, change no run", "[train]") {
    const FloatMode before = FloatMode::current();
    const Outcome plain = outcome(small_options(), 1e-20f);
    before.flushing().set();
    const Outcome fast = outcome(small_options(), 1e-20f);
    const FloatMode after = FloatMode::current();
    before.set();
    CHECK(after == before.flushing());
    check_same(fast, plain);
    const bool poisoned = poison_new_buffers;
    for (const Precision precision : {Precision::fp32, Precision::bf16})
        for (const char* arch : {"gpt2", "nanochat", "llama"}) {
            train::TrainOptions o = small_options();
            o.precision = precision, o.arch = arch;
            o.optimizer = precision == Precision::fp32 ? train::OptimizerKind::adamw : train::OptimizerKind::muon;
            poison_new_buffers = false;
            const Outcome first = outcome(o, 1);
            poison_new_buffers = true;
            INFO(arch);
            check_same(outcome(o, 1), first);
        }
    poison_new_buffers = poisoned;
}

TEST_CASE("training: bf16 gives the same weights on any threads, and a loss near fp32's", "[train][unsanitized]") {
    train::TrainOptions o = train::recipe("nanogpt-cpu").options;
    o.n_layer = 2, o.n_embd = 64, o.warmup_iters = 2;
    double loss[2];
    std::optional<Array<float>> weights[2];
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const bool half = precision == Precision::bf16;
        o.precision = precision;
        check_same_with_any_threads(name_of(precision),
                                    [&] {
                                        Run run(o, letters(5'000));
                                        for (int i = 0; i < 12; ++i) loss[half] = run.step();
                                        return std::vector{weights[half].emplace(run.weights())};
                                    },
                                    {2, 3, 5});
    }
    CHECK_ALL(!same_bits(*weights[0], *weights[1]), std::abs(loss[0] - loss[1]) < 0.01);
}

// The weights after 100 steps, the validation loss, a sampled text and its log-probability are the same on every CPU,
// with every compiler and C library. tests/reference/golden.json has one row for float32, and two for bfloat16, since
// CPUs that multiply it in pairs round in another order. A change that should not change results must keep these rows;
// a change that should replaces them by the rows that this test prints.
#include "engine/base/cpu.h"
#include "formats/sha256.h"
#include "generate/sequence.h"
#include "tests/train/run.h"

static nlohmann::json after_100_steps(Precision precision, const char* arch, train::OptimizerKind optimizer) {
    train::TrainOptions o = small_options();
    o.arch = arch, o.precision = precision, o.optimizer = optimizer;
    o.n_layer = 2, o.n_embd = 36, o.dropout = 0.1, o.max_iters = o.lr_decay_iters = o.eval_every = 100;
    o.weight_decay = 0.1;
    Run run(o, letters(2000));
    run.to_end();
    const Array<float> weights = run.weights();
    const std::string bytes(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float));
    generate::GenerateOptions sampling;
    sampling.max_tokens = 40, sampling.temperature = 0.8, sampling.logprobs = 0;
    run.model->eval();
    generate::Sequence text(*run.model, &run.tokenizer, sampling);
    text.add("abc");
    const std::string written = text.write();
    double logprob = 0;
    for (const auto& token : text.logprobs()) logprob += token.logprob;
    return {formats::base64(formats::sha256(bytes)), run.last_val_loss(), written, logprob};
}

TEST_CASE("golden: 100 steps, their loss and a text are the same on every CPU", "[train]") {
    nlohmann::json golden = reference("golden.json");
    const auto check = [&](Precision precision, const nlohmann::json& expected) {
        nlohmann::ordered_json found;
        using train::OptimizerKind;
        for (const char* arch : {"gpt2", "nanochat", "llama", "gpt-neox"})
            found[arch] = after_100_steps(precision, arch, OptimizerKind::adamw);
        found["qwen3, muon"] = after_100_steps(precision, "qwen3", OptimizerKind::muon);
        INFO(found.dump(2));
        CHECK(expected == nlohmann::json(found));
    };
    check(Precision::fp32, golden["float32"]);
    check(Precision::bf16, golden[used_kind() == CpuKind::avx512_bf16 ? "bfloat16 in pairs" : "bfloat16"]);
}

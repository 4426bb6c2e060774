// inkling generate, eval, info, bench and gradcheck: their output, and the keys of their JSON.
#include "models/files/folder.h"

#include "tests/cli/terminal.h"
#include "train/evaluate.h"

TEST_CASE("generate: prints the prompt, of a file or stdin too, and its continuation, as JSON too", "[cli]") {
    const Arguments command = words("generate --model", small_run(), "-p 'the quick' -n 30 --seed 5");
    const Result r = execute(command);
    CHECK_ALL(r.out.starts_with("the quick"), r.out.size() == 9 + 30 + 1);
    check_has(r.err, "seed 5");
    CHECK_ALL("the quick" + program(command + "--no-prompt").out == r.out, program(command + "--seed 6").out != r.out);
    CHECK(program(command + "-n 0").out == "the quick\n");
    CHECK(program("generate --model", small_run() + "/latest", "-n 4 --top-k 3 --threads 2").out.size() == 5);
    const ScratchFolder folder;
    const std::string file = folder.write("prompt.txt", "the lazy");
    const Arguments greedy = words("generate -n 10 --temp 0 --model", small_run());
    const std::string expected = program(greedy + "-p 'the lazy'").out;
    CHECK_ALL(expected.size() == 19, program(greedy + "-f" + file).out == expected);
    CHECK(program(greedy + "-f -", "", file).out == expected);
    const Arguments three = words("generate --model", small_run(), "-p fox -n 12 --seed 7 --num-samples 3");
    const auto texts = json_lines(program(three + "--json"));
    REQUIRE(texts.size() == 3);
    CHECK(json_of(three, "--num-samples 1")["text"] == texts[0]["text"]);
    for (const auto& j : texts) {
        CHECK(keys_of(j) == std::vector<std::string>{"prompt", "text", "tokens", "prompt_tokens", "tok_s",
                                                     "prompt_tok_s", "seed", "stop_reason"});
        CHECK(j["text"].get<std::string>().size() == 12);
        check_holds(j, "prompt", "fox", "tokens", 12, "prompt_tokens", 3, "seed", 7, "stop_reason", "length");
    }
    CHECK(texts[0]["text"] != texts[1]["text"]);
    // the same texts as without --json
    std::string joined;
    for (const auto& j : texts) joined += (joined.empty() ? "fox" : "\n---\nfox") + j["text"].get<std::string>();
    CHECK(program(three).out == joined + "\n");
}

TEST_CASE("eval: loss, perplexity, bits per byte and tokens, and a loss that is not finite is refused", "[cli]") {
    const ScratchFolder folder;
    const std::string text = "the lazy fox jumps.\n", file = folder.write("text.txt", text);
    const auto j = json_of("eval --model", small_run(), "--data", file);
    CHECK(keys_of(j) == std::vector<std::string>{"loss", "perplexity", "bits_per_byte", "tokens", "replaced"});
    const auto [model, tokenizer] = inkling::models::load_model(small_run() + "/best");
    const double loss = inkling::train::evaluate(*model, tokenizer->encode(text));
    CHECK_ALL(j["tokens"] == 19, j["loss"].get<double>() == Approx(loss).epsilon(1e-6));
    CHECK(j["perplexity"].get<double>() == Approx(std::exp(loss)).epsilon(1e-6));
    CHECK(j["bits_per_byte"].get<double>() == Approx(loss / std::log(2.0)).epsilon(1e-6));  // a byte a token here
    check_has(execute("eval --model", small_run(), "--data", file).out, "perplexity", "19");
    const TrainFolder broken;
    const auto [infinite, known] = inkling::models::load_model(small_run() + "/latest");
    for (auto& [name, p] : infinite->parameters())
        for (std::size_t i = 0; i < p.size(); ++i) p.value_in_place().data()[i] *= 1e30f;
    inkling::models::save_model(broken.path(), *infinite, *known);
    check_fails(call("eval --model", broken.path(), "--data", broken.text), 3, "take another checkpoint");
}

TEST_CASE("eval: shorter windows, a stride, other precisions, and how far it is", "[cli]") {
    const TrainFolder folder;
    execute(folder.train(small("--n-embd 32")));
    const Arguments command = words("eval --model", folder.out, "--data", folder.text);
    const auto loss = [&](const auto&... more) { return json_of(command, more...)["loss"].template get<double>(); };
    using inkling::WeightType;
    const auto expected = [&](WeightType type, const inkling::train::EvaluateOptions& options) {
        const inkling::RoundsActivations as_inference;
        const auto [model, tokenizer] = inkling::models::load_model(folder.out + "/best", std::nullopt, {type});
        return Approx(inkling::train::evaluate(*model, tokenizer->encode(small_text()), options)).epsilon(1e-9);
    };
    const double plain = loss(), rounded = loss("--precision bf16");
    CHECK_ALL(plain == expected(WeightType::fp32, {}), rounded != plain, rounded == Approx(plain).epsilon(0.01));
    CHECK(loss("--block-size 5") == expected(WeightType::fp32, {.length = 5}));
    CHECK(loss("--stride 2") == expected(WeightType::fp32, {.stride = 2}));
    CHECK(loss("--quantize q8_0") == expected(WeightType::q8_0, {}));
    CHECK(loss("--quantize q8_0") != expected(WeightType::fp32, {}));
    check_fails(call(command + "--block-size 9"), 2, "at most the context of 8, got 9");
    check_fails(call(command + "--stride 9"), 2, "context of 8");
    check_fails(call(command + "--block-size 5 --stride 6"), 2, "--block-size of 5, got 6");
    check_fails(call(command + "--quantize q8_0 --precision bf16"), 2, "--precision");
    CHECK(program(command).err.empty());  // soon over
    Terminal t(command + "--json");
    t.expect("evaluating 1214 tokens: 0%"), t.expect("{\"loss\":");
    CHECK(t.wait() == 0);
}

TEST_CASE("info: the shape of a model and the state of its training", "[cli]") {
    const auto j = json_of("info --model", small_run() + "/latest");
    check_holds(j, "arch", "gpt2", "n_layer", 1, "n_head", 2, "n_embd", 16, "block_size", 8, "vocab_size", 29,
                "tokenizer", "char", "bias", false, "step", 20, "parameters", (29 + 8) * 16 + 12 * 256 + 3 * 16,
                "cache_bytes_per_token", 2 * 16 * 4);
    CHECK_ALL(j["best_val_loss"].is_number(), j["bytes"] > 4 * j["parameters"].get<int>());
    check_has(program("info --model", small_run()).out, "parameters");
    const TrainFolder folder;
    execute(folder.train("--val-fraction 0", kSmall));
    check_holds(json_of("info --model", folder.out), "best_val_loss", nullptr, "step", 20);
}

TEST_CASE("bench: times training steps", "[cli]") {
    const auto rows = json_lines(program("bench --preset micro,tiny --batch 2 --seconds 0.05 --threads 1 --json"));
    REQUIRE(rows.size() == 2);
    for (const auto& j : rows) {
        CHECK(keys_of(j) == std::vector<std::string>{"preset", "arch", "precision", "threads", "batch", "params",
                                                     "ms_step", "best_ms", "tok_s", "gflops", "peak_rss_mb"});
        check_holds(j, "precision", "fp32", "threads", 1, "batch", 2);
        for (const char* key : {"ms_step", "tok_s", "peak_rss_mb"}) CHECK(j[key] > 0);
        CHECK(j["best_ms"] <= j["ms_step"]);
    }
    check_holds(rows, "/0/preset", "micro", "/1/preset", "tiny");
    CHECK(rows[1]["params"] > 100 * rows[0]["params"].get<int>());
}

TEST_CASE("bench: bf16, less memory for time, and where the time goes", "[cli][slow]") {
    const auto row = json_of("bench --preset micro --precision bf16 --checkpoint-activations --profile --seconds 0.05");
    CHECK(row["precision"] == "bf16");
    check_has(row["profile"].get<std::string>(), "linear'", "checkpoint'", "attention", "adamw", "GF/s",
              "peak, measured now", "0.00 from the system");
    check_fails(call("bench --precision fp8"), 2, "fp8");
}

TEST_CASE("gradcheck: a row each, filtered", "[cli]") {
    const auto rows = json_lines(program("gradcheck --filter Norm --json"));
    REQUIRE(rows.size() >= 2);
    for (const auto& j : rows) {
        CHECK(keys_of(j) == std::vector<std::string>{"name", "max_rel_error", "bound", "passed"});
        check_has(j["name"].get<std::string>(), "Norm");
        CHECK_ALL(j["passed"] == true, j["max_rel_error"] <= j["bound"]);
    }
    check_has(execute("gradcheck --filter softmax").out, "softmax", " 0 failed");
}

TEST_CASE("generate: a text begins and ends with the end of text, where the tokenizer has one", "[cli]") {
    const ScratchFolder folder;
    for (int i = 0; i < 60; ++i) folder.write("texts/" + std::to_string(100 + i), "one two three");
    const std::string out = folder.path("out");
    execute("train --data", folder.path("texts"), "--out", out, "--tokenizer bpe --vocab-size 280",
            small("--max-iters 300 --learning-rate 0.02 --eval-every 0 --val-fraction 0 --sample-every 0"));
    const auto j = json_of("generate --model", out, "--temperature 0 -n 50");
    check_holds(j, "text", "one two three", "stop_reason", "end_of_text", "prompt_tokens", 0);
    CHECK(j["tokens"] < 50);
    check_holds(json_of("generate --model", out, "--temperature 0 -p 'one two'"), "text", " three", "stop_reason",
                "end_of_text");
    CHECK(program("generate --model", out, "--temperature 0 -n 50").out == "one two three\n");
}

TEST_CASE("runs of before: evaluate, write and resume as they did", "[cli]") {
    const std::string arch = GENERATE("gpt2", "nanochat");
    INFO(arch);
    const std::string runs = tests_path("reference/runs/"), text = runs + "text.txt";
    const ScratchFolder folder;
    const std::string out = folder.path("run");
    copy_run(runs + arch, out);

    const auto then = json_in(runs + arch + ".eval.json");
    const auto now = json_of("eval --model", out, "--data", text);
    CHECK(now["tokens"].get<int>() == then["tokens"].get<int>());
    CHECK(now["loss"].get<double>() == Approx(then["loss"].get<double>()).epsilon(1e-6));

    const Result written = execute("generate --model", out, "-p 'The ' -n 20 --temperature 0 --no-prompt");
    CHECK(written.out == read_file(runs + arch + ".greedy.txt"));

    execute("train --out", out, "--resume auto --data", text, "--max-iters 40");
    const auto before = lines_in(runs + arch + ".resumed.jsonl");
    const auto all = lines_in(out + "/metrics.jsonl");
    REQUIRE(before.size() == 20);
    REQUIRE(all.size() == 40);
    for (std::size_t i = 0; i < before.size(); ++i) {  // another CPU rounds otherwise
        INFO("step " << before[i]["step"]);
        CHECK(all[20 + i]["step"].get<int>() == before[i]["step"].get<int>());
        CHECK(all[20 + i]["loss"].get<double>() == Approx(before[i]["loss"].get<double>()).epsilon(1e-5));
        CHECK(all[20 + i]["grad_norm"].get<double>() == Approx(before[i]["grad_norm"].get<double>()).epsilon(1e-3));
    }
    const auto config = json_in(out + "/latest/config.json");
    if (arch == "nanochat") CHECK(config["final_logit_softcapping"] == 15);  // whatever recipes choose today
}

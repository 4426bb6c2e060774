// inkling generate, eval, info, bench and gradcheck: their output, and the keys of their JSON.
#include "models/files/folder.h"
#include "tests/cli/terminal.h"
#include "train/evaluate.h"

using namespace inkling::testing;

namespace {

void check_keys(const ordered_json& j, const std::vector<std::string>& keys) {
    std::vector<std::string> found;
    for (const auto& [key, value] : j.items()) found.push_back(key);
    CHECK(found == keys);
}

}  // namespace

TEST_CASE("generate: prints the prompt and its continuation, the seed on stderr", "[cli]") {
    const Result r =
        succeeded(program({"generate", "--model", small_run(), "-p", "the quick", "-n", "30", "--seed", "5"}));
    CHECK(r.out.starts_with("the quick"));
    CHECK(r.out.size() == 9 + 30 + 1);
    CHECK_THAT(r.err, contains("seed 5"));
    const Result alone =
        program({"generate", "--model", small_run(), "-p", "the quick", "-n", "30", "--seed", "5", "--no-prompt"});
    CHECK("the quick" + alone.out == r.out);
    const Result other = program({"generate", "--model", small_run(), "-p", "the quick", "-n", "30", "--seed", "6"});
    CHECK(other.out != r.out);
    const Result none = program({"generate", "--model", small_run(), "-p", "fox", "-n", "0"});
    CHECK(none.out == "fox\n");
    CHECK(program({"generate", "--model", small_run() + "/latest", "-n", "4", "--top-k", "3", "--threads", "2"})
              .out.size() == 5);
}

TEST_CASE("generate: the prompt may come from a file or from stdin", "[cli]") {
    const ScratchFolder folder;
    const std::string file = folder.write("prompt.txt", "the lazy");
    const Arguments rest = {"-n", "10", "--temp", "0"};
    const std::string expected = program(Arguments{"generate", "--model", small_run(), "-p", "the lazy"} + rest).out;
    CHECK(expected.size() == 19);
    CHECK(program(Arguments{"generate", "--model", small_run(), "-f", file} + rest).out == expected);
    CHECK(program(Arguments{"generate", "--model", small_run(), "-f", "-"} + rest, "", file).out == expected);
}

TEST_CASE("generate: --json is one object a text", "[cli]") {
    const Arguments command = {"generate", "--model", small_run(),     "-p", "fox", "-n", "12",
                               "--seed",   "7",       "--num-samples", "3"};
    const auto texts = json_lines(program(command + Arguments{"--json"}));
    REQUIRE(texts.size() == 3);
    for (const auto& j : texts) {
        check_keys(j, {"prompt", "text", "tokens", "prompt_tokens", "tok_s", "prompt_tok_s", "seed", "stop_reason"});
        CHECK((j["prompt"] == "fox" && j["text"].get<std::string>().size() == 12));
        CHECK((j["tokens"] == 12 && j["prompt_tokens"] == 3 && j["seed"] == 7 && j["stop_reason"] == "length"));
    }
    CHECK(texts[0]["text"] != texts[1]["text"]);
    // the same texts as without --json
    std::string expected;
    for (const auto& j : texts) expected += (expected.empty() ? "fox" : "\n---\nfox") + j["text"].get<std::string>();
    CHECK(program(command).out == expected + "\n");
}

TEST_CASE("eval: loss, perplexity, bits per byte and tokens", "[cli]") {
    const ScratchFolder folder;
    const std::string text = "the lazy fox jumps.\n", file = folder.write("text.txt", text);
    const auto j = json_lines(program({"eval", "--model", small_run(), "--data", file, "--json"})).at(0);
    check_keys(j, {"loss", "perplexity", "bits_per_byte", "tokens", "replaced"});
    const auto [model, tokenizer] = inkling::models::load_model(small_run() + "/best");
    const double loss = inkling::train::evaluate(*model, tokenizer->encode(text));
    CHECK(j["tokens"] == 19);
    CHECK(j["loss"].get<double>() == Approx(loss).epsilon(1e-6));
    CHECK(j["perplexity"].get<double>() == Approx(std::exp(loss)).epsilon(1e-6));
    CHECK(j["bits_per_byte"].get<double>() == Approx(loss / std::log(2.0)).epsilon(1e-6));  // a byte a token here
    const Result plain = succeeded(program({"eval", "--model", small_run(), "--data", file}));
    CHECK_THAT(plain.out, contains("perplexity", "19"));
}

TEST_CASE("eval: windows with a stride, and products in bfloat16", "[cli]") {
    const ScratchFolder folder;
    const std::string file = folder.write("text.txt", small_text());
    const Arguments command = {"eval", "--model", small_run(), "--data", file, "--json"};
    const double loss = json_lines(program(command)).at(0)["loss"];
    const auto strided = json_lines(program(command + Arguments{"--stride", "2"})).at(0);
    CHECK(strided["tokens"] == json_lines(program(command)).at(0)["tokens"]);
    CHECK(strided["loss"].get<double>() != Approx(loss).epsilon(1e-6));
    CHECK(json_lines(program(command + Arguments{"--stride", "8"})).at(0)["loss"].get<double>() ==
          Approx(loss).epsilon(0.01));
    const double rounded = json_lines(program(command + Arguments{"--precision", "bf16"})).at(0)["loss"];
    CHECK(rounded != loss);
    CHECK(rounded == Approx(loss).epsilon(0.01));
    check_fails(call(command + Arguments{"--stride", "9"}), 2, "context of 8");
}

TEST_CASE("eval: a loss that is not finite is refused", "[cli]") {
    const ScratchFolder folder;
    const auto [model, tokenizer] = inkling::models::load_model(small_run() + "/latest");
    for (auto& [name, p] : model->parameters())
        for (std::size_t i = 0; i < p.size(); ++i) p.value_in_place().data()[i] *= 1e30f;
    inkling::models::save_model(folder.path(), *model, *tokenizer);
    check_fails(call({"eval", "--model", folder.path(), "--data", folder.write("text.txt", small_text())}), 3,
                "take another checkpoint");
}

TEST_CASE("eval: shorter windows, weights in 8 bits, and how far it is", "[cli]") {
    const ScratchFolder folder;
    const std::string file = folder.write("text.txt", small_text()), out = folder.path("out");
    succeeded(program(Arguments{"train", "--data", file, "--out", out} + small({"--n-embd", "32"})));
    const Arguments command = {"eval", "--model", out, "--data", file, "--json"};
    const auto loss = [&](const Arguments& more) {
        return json_lines(program(command + more)).at(0)["loss"].get<double>();
    };
    using inkling::WeightType;
    const auto expected = [&](WeightType type, std::size_t length) {
        const auto [model, tokenizer] = inkling::models::load_model(out + "/best", std::nullopt, {type});
        return Approx(inkling::train::evaluate(*model, tokenizer->encode(small_text()), {.length = length}))
            .epsilon(1e-9);
    };
    CHECK(loss({}) == expected(WeightType::fp32, 8));
    CHECK(loss({"--block-size", "5"}) == expected(WeightType::fp32, 5));
    CHECK(loss({"--quantize", "q8_0"}) == expected(WeightType::q8_0, 8));
    CHECK(loss({"--quantize", "q8_0"}) != expected(WeightType::fp32, 8));
    check_fails(call(command + Arguments{"--block-size", "9"}), 2, "at most the context of 8, got 9");
    check_fails(call(command + Arguments{"--block-size", "5", "--stride", "6"}), 2, "--block-size of 5, got 6");
    check_fails(call(command + Arguments{"--quantize", "q8_0", "--precision", "bf16"}), 2, "--precision");
    CHECK(program(command).err.empty());  // soon over
    Terminal t(command);
    t.expect("evaluating 1214 tokens: 0%");
    t.expect("{\"loss\":");
    CHECK(t.wait() == 0);
}

TEST_CASE("info: the shape of a model and the state of its training, with a validation loss or without", "[cli]") {
    const auto j = json_lines(program({"info", "--model", small_run() + "/latest", "--json"})).at(0);
    CHECK((j["arch"] == "gpt2" && j["n_layer"] == 1 && j["n_head"] == 2 && j["n_embd"] == 16 && j["block_size"] == 8));
    CHECK((j["vocab_size"] == 29 && j["tokenizer"] == "char" && j["bias"] == false && j["step"] == 20));
    CHECK(j["parameters"] == (29 + 8) * 16 + 12 * 256 + 3 * 16);
    CHECK(j["best_val_loss"].is_number());
    CHECK(j["bytes"] > 4 * j["parameters"].get<int>());
    CHECK_THAT(program({"info", "--model", small_run()}).out, contains("parameters"));
    const NewRun run;
    succeeded(program(run.train + small({"--val-fraction", "0"})));
    const auto bare = json_lines(program({"info", "--model", run.out, "--json"})).at(0);
    CHECK_FALSE(bare.contains("best_val_loss"));
    CHECK(bare["step"] == 20);
}

TEST_CASE("bench: times training steps", "[cli]") {
    const auto rows = json_lines(
        program({"bench", "--preset", "micro,tiny", "--batch", "2", "--seconds", "0.05", "--threads", "1", "--json"}));
    REQUIRE(rows.size() == 2);
    for (const auto& j : rows) {
        check_keys(j, {"preset", "arch", "precision", "threads", "batch", "params", "ms_step", "best_ms", "tok_s",
                       "gflops", "peak_rss_mb"});
        CHECK((j["precision"] == "fp32" && j["threads"] == 1 && j["batch"] == 2));
        CHECK(j["ms_step"] > 0);
        CHECK(j["best_ms"] <= j["ms_step"]);
        CHECK(j["tok_s"] > 0);
        CHECK(j["peak_rss_mb"] > 0);
    }
    CHECK((rows[0]["preset"] == "micro" && rows[1]["preset"] == "tiny"));
    CHECK(rows[1]["params"] > 100 * rows[0]["params"].get<int>());
}

TEST_CASE("bench: bf16, less memory for time, and where the time goes", "[cli][slow]") {
    const auto rows = json_lines(program({"bench", "--preset", "micro", "--precision", "bf16",
                                          "--checkpoint-activations", "--profile", "--seconds", "0.05", "--json"}));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["precision"] == "bf16");
    const std::string table = rows[0]["profile"];
    CHECK_THAT(table, contains("linear'", "checkpoint'", "attention", "adamw", "GF/s", "peak, measured now",
                               "0.00 from the system"));
    check_fails(call({"bench", "--precision", "fp8"}), 2, "fp8");
}

TEST_CASE("gradcheck: a row each, filtered", "[cli]") {
    const auto rows = json_lines(program({"gradcheck", "--filter", "Norm", "--json"}));
    REQUIRE(rows.size() >= 2);
    for (const auto& j : rows) {
        check_keys(j, {"name", "max_rel_error", "bound", "passed"});
        CHECK_THAT(j["name"].get<std::string>(), contains("Norm"));
        CHECK(j["passed"] == true);
        CHECK(j["max_rel_error"] <= j["bound"]);
    }
    const Result plain = succeeded(program({"gradcheck", "--filter", "softmax"}));
    CHECK_THAT(plain.out, contains("softmax", " 0 failed"));
}

TEST_CASE("generate: a text begins and ends with the end of text, where the tokenizer has one", "[cli]") {
    const ScratchFolder folder;
    for (int i = 0; i < 60; ++i) folder.write("texts/" + std::to_string(100 + i), "one two three");
    const std::string out = folder.path("out");
    succeeded(program(
        Arguments{"train", "--data", folder.path("texts"), "--out", out, "--tokenizer", "bpe", "--vocab-size", "280"} +
        small({"--max-iters", "300", "--learning-rate", "0.02", "--eval-every", "0", "--val-fraction", "0",
               "--sample-every", "0"})));
    const auto j = json_lines(program({"generate", "--model", out, "--json", "--temperature", "0", "-n", "50"})).at(0);
    CHECK((j["text"] == "one two three" && j["stop_reason"] == "end_of_text" && j["prompt_tokens"] == 0));
    CHECK(j["tokens"] < 50);
    const auto more =
        json_lines(program({"generate", "--model", out, "--json", "--temperature", "0", "-p", "one two"})).at(0);
    CHECK((more["text"] == " three" && more["stop_reason"] == "end_of_text"));
    CHECK(program({"generate", "--model", out, "--temperature", "0", "-n", "50"}).out == "one two three\n");
}

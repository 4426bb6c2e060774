// inkling train: the files of a run, the sources of settings, and resuming.
#include <numbers>
#include <sstream>

#include "data/stories/stories.h"
#include "engine/base/precision.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace inkling::testing;

namespace {

std::vector<ordered_json> metrics(const std::string& out) { return json_lines(read_file(out + "/metrics.jsonl")); }

// The value of a key in OUT/config.toml, as written there.
std::string setting(const std::string& out, const std::string& key) {
    std::istringstream in(read_file(out + "/config.toml"));
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key + " = ")) return line.substr(key.size() + 3);
    return "none";
}

}  // namespace

TEST_CASE("train: writes every file of a run", "[cli]") {
    const std::string& out = small_run();
    CHECK(names_in(out) == std::vector<std::string>{"best", "config.toml", "latest", "metrics.jsonl", "run.json",
                                                    "samples.jsonl", "step-000010", "step-000020"});
    CHECK(fs::read_symlink(out + "/latest") == "step-000020");
    CHECK(fs::read_symlink(out + "/best").string().starts_with("step-0000"));
    const std::vector<std::string> files{"config.json",    "generation_config.json", "model.safetensors",
                                         "tokenizer.json", "tokenizer_config.json",  "training_state.safetensors"};
    CHECK(names_in(out + "/step-000010") == files);
    CHECK(names_in(out + "/latest") == files);

    const auto lines = metrics(out);
    std::vector<int> steps;
    for (const ordered_json& line : lines) {
        steps.push_back(line.at("step"));
        for (const char* key : {"loss", "lr", "grad_norm", "tok_s", "train_s", "elapsed_s"})
            CHECK(line.at(key).is_number());
        CHECK(line.contains("val_loss") == (line["step"] == 10 || line["step"] == 20));
    }
    CHECK(steps == std::vector<int>{1, 5, 10, 15, 20});
    CHECK(lines.front()["loss"].get<double>() == Approx(std::log(29.0)).epsilon(0.05));
    CHECK(lines.back()["val_loss"] < lines.front()["loss"]);
    CHECK(lines.back()["train_s"] <= lines.back()["elapsed_s"]);
    CHECK(setting(out, "n_layer") == "1");
    CHECK(setting(out, "batch_size") == "4");
    CHECK(setting(out, "sampler").find("random") != std::string::npos);
}

TEST_CASE("train: says what it does on stderr alone, with the seed", "[cli]") {
    const NewRun run;
    const Result r = succeeded(program(run.train + kSmall + Arguments{"--seed", "4711"}));
    CHECK(r.out.empty());
    CHECK_THAT(r.err, contains("4711", "step 20/20", "validation"));
    CHECK(r.err.find('\x1b') == std::string::npos);  // no terminal
    CHECK(r.err.find('\r') == std::string::npos);
}

TEST_CASE("train: flags over config file over recipe over defaults", "[cli]") {
    const ScratchFolder folder;
    const std::string out = folder.path("out"), text = folder.write("text.txt", small_text());
    const std::string config = folder.write("c.toml",
                                            "n_layer = 2\nn_head = 2\nn_embd = 16\nblock_size = 8\nbatch_size = "
                                            "3\nmax_iters = 2\nlearning_rate = 0.5\nbias = true\neval_every = 0\n");
    succeeded(program({"train", "--recipe", "stories", "--config", config, "--data", text, "--out", out, "--n-layer",
                       "1", "--learning-rate", "0.25", "--no-bias", "--threads", "1"}));
    CHECK(setting(out, "n_layer") == "1");           // flag over config file
    CHECK(setting(out, "learning_rate") == "0.25");  // the same
    CHECK(setting(out, "bias") == "false");
    CHECK(setting(out, "batch_size") == "3");  // config file over recipe
    CHECK(setting(out, "max_iters") == "2");
    CHECK(setting(out, "warmup_iters") == "0");  // recipe over default
    CHECK(setting(out, "beta2") == "0.99");      // default
    // and the resolved settings give the same run again
    succeeded(program({"train", "--config", out + "/config.toml", "--out", folder.path("again")}));
    CHECK(read_file(out + "/latest/model.safetensors") == read_file(folder.path("again/latest/model.safetensors")));
}

TEST_CASE("train: without a recipe, one that fits itself to the text and the time", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text()), out = folder.path("out");
    const Arguments command{"train", "--data", text, "--out", out, "--max-time", "0.3", "--threads", "1"};
    const Result r = succeeded(program(command));
    CHECK_THAT(r.err, contains(", width ", "validation"));
    CHECK(setting(out, "arch") == "'nanochat'");
    CHECK(setting(out, "optimizer") == "'muon'");
    CHECK(setting(out, "softcap") == "0");  // so that llama.cpp computes the same
    CHECK(json::parse(read_file(out + "/best/config.json"))["final_logit_softcapping"].is_null());
    const Result exported = succeeded(program({"export", "--model", out, "--out", folder.path("out.gguf")}));
    CHECK(exported.err.find("warning") == std::string::npos);
    CHECK(setting(out, "max_time") == "0.3");
    // chosen by the CPU, never by a measurement: the same command gives the same bits, however busy the machine
    CHECK(setting(out, "precision") == (inkling::has_fast_bf16() ? "'bf16'" : "'fp32'"));
    CHECK(metrics(out).back()["train_s"] < 30);  // without --max-time: 60
    // the plan is part of the run: the same command continues with it, and makes no new one
    const std::string config = read_file(out + "/config.toml");
    const Result again = succeeded(program(command + Arguments{"--recipe", "fast", "--resume", "auto"}));
    CHECK_THAT(again.err, contains("nothing to do") && !contains(", width "));
    const auto plan = [](const std::string& toml) { return toml.substr(toml.find("arch = ")); };
    CHECK(plan(read_file(out + "/config.toml")) == plan(config));
}

TEST_CASE("train: the built-in stories are there without any data, and eval checks what is written", "[cli][slow]") {
    const ScratchFolder folder;
    const Result r = succeeded(
        program({"train", "--out", folder.path("out"), "--max-iters", "2", "--eval-every", "0", "--eval-iters", "1",
                 "--n-layer", "1", "--n-embd", "32", "--block-size", "32", "--batch-size", "2", "--threads", "1"}));
    CHECK_THAT(r.err, contains("built-in stories", "nats per token"));
    CHECK(setting(folder.path("out"), "tokenizer") == "'bpe'");
    const Result checked = succeeded(program({"eval", "--model", folder.path("out"), "--stories", "2", "--json"}));
    const ordered_json line = ordered_json::parse(checked.out);
    CHECK((line["stories"] == 2 && line["accepted"] == 0));
    CHECK(line["nats_per_char"] > line["entropy_nats_per_char"]);
    // the loss is on stories that training has not seen, in windows that overlap by half
    const std::string fresh = folder.write("fresh.txt", inkling::data::generate_stories(2, 400'000));
    const Result same =
        succeeded(program({"eval", "--model", folder.path("out"), "--data", fresh, "--stride", "16", "--json"}));
    const double nats = ordered_json::parse(same.out)["bits_per_byte"].get<double>() * std::numbers::ln2;
    CHECK(line["nats_per_char"].get<double>() == Approx(nats).epsilon(1e-6));
    CHECK_THAT(program({"eval", "--model", folder.path("out"), "--stories", "1"}).out,
               contains("0 of 1 stories", "entropy"));
}

TEST_CASE("train: text from stdin and from several places", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    succeeded(program(Arguments{"train", "--data", "-", "--out", folder.path("a")} + kSmall, "", text));
    succeeded(program(Arguments{"train", "--data", text, "--out", folder.path("b")} + kSmall));
    CHECK(read_file(folder.path("a/latest/model.safetensors")) == read_file(folder.path("b/latest/model.safetensors")));
    const std::string second = folder.write("more/more.txt", "Zebras!\n");
    succeeded(
        program(Arguments{"train", "--data", text, "--data", folder.path("more"), "--out", folder.path("c")} + kSmall));
    CHECK_THAT(read_file(folder.path("c/latest/tokenizer.json")), contains("\"Z\""));
}

TEST_CASE("train: --resume auto goes on from the newest checkpoint that is whole", "[cli]") {
    for (const std::string name : {"model.safetensors", "training_state.safetensors", "config.json"}) {
        INFO(name);
        const CopiedRun run;
        run.folder.write("run/step-by-step/notes.txt", "mine");
        const std::string whole = read_file(run.out + "/step-000020/" + name);
        run.folder.write("run/step-000020/" + name, whole.substr(0, whole.size() / 2));
        const Result r = succeeded(
            program({"train", "--out", run.out, "--resume", "auto", "--data", run.text, "--max-iters", "22"}));
        CHECK_THAT(r.err, contains("warning: ", name, "step 10"));
        CHECK(run.latest() == "step-000022");
    }
}

TEST_CASE("train: the newest checkpoint is that of the last step, whatever the clock says", "[cli]") {
    const auto resume = [](const CopiedRun& run) {
        const Result r = succeeded(
            program({"train", "--out", run.out, "--resume", "auto", "--data", run.text, "--max-iters", "24"}));
        CHECK_THAT(r.err, contains("step-000020, step 20"));
        return read_file(run.out + "/latest/model.safetensors");
    };
    const CopiedRun plain, shifted;
    const auto now = fs::file_time_type::clock::now();  // the clock was set back by years, then forward
    for (const auto& [step, year] : {std::pair{"step-000010", 5}, std::pair{"step-000020", -5}})
        for (const auto& entry : fs::recursive_directory_iterator(shifted.out + "/" + step))
            fs::last_write_time(entry.path(), now + std::chrono::hours(24 * 365 * year));
    setenv("TZ", "Pacific/Kiritimati", 1);
    CHECK(resume(shifted) == resume(plain));
    unsetenv("TZ");
}

TEST_CASE("train: --init-from starts a new run from a model's weights", "[cli]") {
    const NewRun run;
    succeeded(program({"train", "--init-from", small_run(), "--data", run.text, "--out", run.out, "--max-iters", "0"}));
    CHECK(read_file(run.out + "/latest/model.safetensors") == read_file(small_run() + "/best/model.safetensors"));
    CHECK(fs::exists(run.out + "/step-000000"));
}

TEST_CASE("train: --dry-run tells what a run would take, and does nothing", "[cli][slow]") {
    const NewRun run;
    const Arguments train = Arguments{"train", "--data", run.text, "--out", run.out, "--dry-run"} + kSmall;
    const Result r = succeeded(program(train));
    CHECK(r.err.empty());
    CHECK_THAT(r.out, contains("parameters 3.71k (3712)", "1.22 kB, 1.22k tokens, vocabulary 29",
                               "20 of 32 tokens each: 640 tokens", "\nmemory", "\ndisk", "\ntime", "FLOP/s"));
    CHECK_FALSE(fs::exists(run.out));
    // sizes beyond any machine are reported without trying
    const Result huge =
        succeeded(program(Arguments{"train", "--data", run.text, "--out", run.out, "--dry-run"} +
                          small({"--n-embd", "16384", "--n-head", "128", "--n-layer", "120", "--block-size", "2048",
                                 "--batch-size", "2048", "--max-iters", "500000"})));
    CHECK_THAT(huge.out, contains("parameters   387G", " years of training steps"));
    check_fails(call({"train", "--data", run.folder.path("none.txt"), "--dry-run"}), 3, "none.txt");
    for (const Arguments& more : {Arguments{"--tokenizer", "bpe", "--arch", "nanochat"},
                                  Arguments{"--optimizer", "muon"}, Arguments{"--max-time", "0.001"}})
        succeeded(program(train + more));
}

TEST_CASE("train: --dry-run plans the run that would be", "[cli][unsanitized]") {
    if (kEmulated) SKIP_TEST("an emulator takes longer for the steps than the plan is for");
    const NewRun fresh;
    const auto plan = [&](const Arguments& flags) {
        const Result r = succeeded(program(fresh.train + flags + Arguments{"--dry-run"}));
        return r.out;
    };
    // the recipe "fast" sizes itself
    const Arguments flags{"--max-time", "200", "--precision", "fp32"};
    const std::string planned = plan(flags);
    const Result run = succeeded(program(fresh.train + flags));
    INFO(planned);
    CHECK_THAT(run.err, contains(", fp32; 400 steps of 8 sequences of 64 tokens\n"));
    CHECK_THAT(planned, contains(run.err.substr(0, run.err.find(';')) + ", context 64\n", " 400 of 512 tokens"));
    // a model for fine-tuning keeps its shape
    CHECK_THAT(plan({"--init-from", small_run(), "--recipe", "nanogpt-cpu"}),
               contains("gpt2, 1 layer, 2 heads, width 16", "parameters   3.71k"));
}

TEST_CASE("train: keeps as many checkpoints as --keep-checkpoints says", "[cli]") {
    const NewRun run;
    const auto kept = [&] {
        std::vector<std::string> names = names_in(run.out);
        std::erase_if(names, [](const std::string& name) { return !name.starts_with("step-"); });
        return names;
    };
    succeeded(program(run.train + small({"--save-every", "5", "--keep-checkpoints", "3"})));
    CHECK(kept() == std::vector<std::string>{"step-000010", "step-000015", "step-000020"});  // 5 was not evaluated
    succeeded(program(run.train + Arguments{"--resume", "auto", "--keep-checkpoints", "1", "--max-iters", "25"}));
    CHECK(kept().size() <= 2);
    CHECK(kept().back() == "step-000025");
    check_fails(call(run.train + Arguments{"--keep-checkpoints", "0"}), 2, "must be at least 1, got 0");
}

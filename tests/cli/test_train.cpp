// inkling train: the files of a run, the sources of settings, and resuming.
#include <numbers>

#include "data/stories/stories.h"
#include "tests/cli/program.h"

static std::vector<ordered_json> metrics(const std::string& out) { return lines_in(out + "/metrics.jsonl"); }

// Checks lines of OUT/config.toml.
template <class... Lines>
static void check_settings(const std::string& out, const Lines&... lines) {
    check_has(read_file(out + "/config.toml"), ("\n" + std::string(lines) + "\n")...);
}

TEST_CASE("train: writes every file of a run, and says what it does on stderr alone, with the seed", "[cli]") {
    const std::string& out = small_run();
    CHECK(names_in(out) == std::vector<std::string>{"best", "chain.jsonl", "config.toml", "latest", "metrics.jsonl",
                                                    "run.json", "samples.jsonl", "step-000010", "step-000020"});
    CHECK(fs::read_symlink(out + "/latest") == "step-000020");
    CHECK(fs::read_symlink(out + "/best").string().starts_with("step-0000"));
    const std::vector<std::string> files{"config.json",    "generation_config.json", "model.safetensors",
                                         "tokenizer.json", "tokenizer_config.json",  "training_state.safetensors"};
    CHECK_ALL(names_in(out + "/step-000010") == files, names_in(out + "/latest") == files);

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
    CHECK_ALL(lines.back()["val_loss"] < lines.front()["loss"], lines.back()["train_s"] <= lines.back()["elapsed_s"]);
    check_settings(out, "n_layer = 1", "batch_size = 4", "sampler = 'random'");
    const TrainFolder folder;
    const Result r = execute(folder.train("--seed 4711", kSmall));
    CHECK(r.out.empty());
    check_has(r.err, "4711", "step 20/20", "validation");
    CHECK(r.err.find('\x1b') == std::string::npos);  // no terminal
    CHECK(r.err.find('\r') == std::string::npos);
}

TEST_CASE("train: flags over config file over recipe over defaults", "[cli]") {
    const TrainFolder folder;
    const std::string config =
        folder.write("c.toml",
                     "n_layer = 2\nn_head = 2\nn_embd = 16\nblock_size = 8\nbatch_size = 3\nmax_iters = 2\n"
                     "learning_rate = 0.5\nbias = true\neval_every = 0\n");
    execute(
        folder.train("--recipe stories --config", config, "--n-layer 1 --learning-rate 0.25 --no-bias --threads 1"));
    check_settings(folder.out, "n_layer = 1", "learning_rate = 0.25", "bias = false");  // flags over config file
    check_settings(folder.out, "batch_size = 3", "max_iters = 2");                      // config file over recipe
    check_settings(folder.out, "warmup_iters = 0", "beta2 = 0.99");                     // recipe over default, default
    // and the resolved settings give the same run again
    execute("train --config", folder.out + "/config.toml", "--out", folder.path("again"));
    CHECK(weights_in(folder.out) == weights_in(folder.path("again")));
}

TEST_CASE("train: without a recipe, one that fits itself to the text and the time", "[cli]") {
    const TrainFolder folder;
    const Arguments command = folder.train("--max-time 0.3 --threads 1");
    check_has(execute(command).err, ", width ", "validation");
    // softcap: so that llama.cpp computes the same; precision: chosen by the CPU, never by a measurement, so that the
    // same command gives the same bits, however busy the machine
    check_settings(folder.out, "arch = 'nanochat'", "optimizer = 'muon'", "softcap = 0", "max_time = 0.3",
                   inkling::has_fast_bf16() ? "precision = 'bf16'" : "precision = 'fp32'");
    CHECK(json_in(folder.out + "/best/config.json")["final_logit_softcapping"].is_null());
    check_lacks(execute("export --model", folder.out, "--out", folder.path("out.gguf")).err, "warning");
    CHECK(metrics(folder.out).back()["train_s"] < 30);  // without --max-time: 60
    // the plan is part of the run: the same command continues with it, and makes no new one
    const std::string config = read_file(folder.out + "/config.toml");
    const std::string again = execute(command, "--recipe fast --resume auto").err;
    check_lacks(again, ", width ");  // on a busy machine a little of the time may be left
    const auto plan = [](const std::string& toml) { return toml.substr(toml.find("arch = ")); };
    CHECK(plan(read_file(folder.out + "/config.toml")) == plan(config));
}

TEST_CASE("train: the built-in stories are there without any data, and eval checks what is written", "[cli][slow]") {
    const TrainFolder folder;
    check_has(execute("train --out", folder.out,
                      "--max-iters 2 --eval-every 0 --eval-iters 1 --n-layer 1 --n-embd 32 --block-size 32 "
                      "--batch-size 2 --threads 1")
                  .err,
              "built-in stories", "nats per token");
    check_settings(folder.out, "tokenizer = 'bpe'");
    const Arguments eval = words("eval --model", folder.out);
    const auto line = json_of(eval, "--stories 2");
    check_holds(line, "stories", 2, "accepted", 0);
    CHECK(line["nats_per_char"] > line["entropy_nats_per_char"]);
    // the loss is on stories that training has not seen, in windows that overlap by half
    const std::string fresh = folder.write("fresh.txt", inkling::data::generate_stories(2, 400'000));
    const double bits = json_of(eval, "--stride 16 --data", fresh)["bits_per_byte"];
    CHECK(line["nats_per_char"].get<double>() == Approx(bits * std::numbers::ln2).epsilon(1e-6));
    check_has(execute(eval, "--stories 1").out, "0 of 1 stories", "entropy");
}

TEST_CASE("train: text from stdin and from several places", "[cli]") {
    const TrainFolder folder;
    succeeded(program(words("train --data - --out", folder.path("a"), kSmall), "", folder.text));
    CHECK(weights_in(folder.path("a")) == weights_in(small_run()));
    folder.write("more/more.txt", "Zebras!\n");
    execute(folder.train("--data", folder.path("more"), kSmall));
    check_has(read_file(folder.out + "/latest/tokenizer.json"), "\"Z\"");
}

TEST_CASE("train: a run that is resumed ends as one that never stopped", "[cli]") {
    const TrainFolder folder;
    const std::string straight = folder.path("straight");
    const Arguments train = folder.train(small("--dropout 0.1 --lr-decay-iters 20"));
    execute(train, "--out", straight);
    execute(train, "--max-iters 7 --resume auto");  // none there: begins
    // the run's own settings, except the given ones
    check_has(execute(folder.resume("--max-iters 20 --threads 2")).err, "going on from", "step 7");
    CHECK(weights_in(folder.out) == weights_in(straight));
    const auto lines = metrics(folder.out);
    for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i]["step"] > lines[i - 1]["step"]);
    CHECK(lines.back()["step"] == 20);
    check_has(execute(folder.resume()).err, "nothing to do");
    const std::string timed = folder.path("timed");
    execute(folder.train(small("--max-iters 100000000 --max-time 0.01")), "--out", timed);
    check_has(execute("train --resume auto --max-time 0.000001 --out", timed).err, "nothing to do",
              "a longer --max-time");
    check_fails(call(folder.resume("--n-layer 3")), 2, "--n-layer");
    const std::string other = folder.write("other.txt", small_text() + "NEW LETTERS");
    check_has(ended_with(3, program(folder.resume("--data", other))).err, "another text");
}

TEST_CASE("train: --resume auto goes on from the newest checkpoint that is whole", "[cli]") {
    for (const std::string name : {"model.safetensors", "training_state.safetensors", "config.json"}) {
        INFO(name);
        const CopiedRun run;
        run.write("run/step-by-step/notes.txt", "mine");
        const std::string whole = read_file(run.out + "/step-000020/" + name);
        run.write("run/step-000020/" + name, whole.substr(0, whole.size() / 2));
        check_has(execute(run.resume("--max-iters 22")).err, "warning: ", name, "step 10");
        CHECK(run.latest() == "step-000022");
    }
}

TEST_CASE("train: --teacher gives a run its tokenizer, is kept, and is refused where it does not fit", "[cli]") {
    const TrainFolder folder;
    const Arguments taught = folder.train(small("--max-iters 2"), "--teacher", small_run());
    execute(taught);
    CHECK(read_file(folder.out + "/best/tokenizer.json") == read_file(small_run() + "/best/tokenizer.json"));
    check_has(read_file(folder.out + "/config.toml"), "teacher = [ '" + small_run() + "' ]", "teacher_weight = 0.7");
    execute(folder.resume("--max-iters 3"));
    const Arguments again = taught + "--overwrite";
    check_fails(call(folder.train(kSmall, "--overwrite --teacher-weight 0.5")), 2, "--teacher-weight is for --teacher");
    check_fails(call(again + "--teacher-weight 1.5"), 2, "--teacher-weight must be between 0 and 1");
    check_fails(call(again + "--teacher" + folder.path("none")), 3, "none");
    check_fails(call(again + "--block-size 32"), 3, "context of 8 tokens");
    check_fails(call(again + "--tokenizer bpe"), 3, "has another tokenizer than the run");
}

TEST_CASE("train: --dry-run tells what a run would take, and does nothing", "[cli][slow]") {
    const TrainFolder folder;
    const Arguments train = folder.train("--dry-run", kSmall);
    const Result r = execute(train);
    CHECK(r.err.empty());
    check_has(r.out, "parameters   3.71k (3712)", "1.22 kB, 1.22k tokens, vocabulary 29",
              "20 of 32 tokens each: 640 tokens", "\nmemory", "\ndisk", "\ntime", "FLOP/s");
    const auto plan = json_of(train);
    check_holds(plan, "event", "plan", "vocab_size", 29, "steps", 20, "tokens", small_text().size(), "tokens_are_exact",
                true, "/settings/n_embd", 16);
    for (const char* key : {"epochs", "flops", "memory_bytes", "checkpoint_bytes", "seconds"}) CHECK(plan[key] > 0);
    CHECK_FALSE(fs::exists(folder.out));
    // sizes beyond any machine are reported without trying
    const Arguments huge =
        small("--n-embd 16384 --n-head 128 --n-layer 120 --block-size 2048 --batch-size 2048 --max-iters 500000");
    check_has(execute(folder.train("--dry-run", huge)).out, "parameters   387G", " years of training steps");
    check_fails(call("train --data", folder.path("none.txt"), "--dry-run"), 3, "none.txt");
    for (const Arguments& more :
         {words("--tokenizer bpe --arch nanochat"), words("--optimizer muon"), words("--max-time 0.001")})
        execute(train + more);
}

TEST_CASE("train: --dry-run plans the run that would be", "[cli][unsanitized]") {
    if (kEmulated) SKIP_TEST("an emulator takes longer for the steps than the plan is for");
    const TrainFolder folder;
    const auto plan = [&](const auto&... flags) { return execute(folder.train("--dry-run", flags...)).out; };
    // the recipe "fast" sizes itself
    const Arguments flags = words("--max-time 200 --precision fp32");
    const std::string run = execute(folder.train(flags)).err;
    check_has(run, ", fp32; 400 steps of 8 sequences of 64 tokens\n");
    check_has(plan(flags), run.substr(0, run.find(';')) + ", context 64\n", " 400 of 512 tokens");
    // a model for fine-tuning keeps its shape
    check_has(plan("--recipe nanogpt-cpu --init-from", small_run()), "gpt2, 1 layer, 2 heads, width 16",
              "parameters   3.71k");
}

TEST_CASE("train: keeps as many checkpoints as --keep-checkpoints says, and those of --save-at", "[cli]") {
    const TrainFolder folder;
    const Arguments train = folder.train();
    const auto kept = [&] {
        std::vector<std::string> names = names_in(folder.out);
        std::erase_if(names, [](const std::string& name) { return !name.starts_with("step-"); });
        return names;
    };
    execute(train + small("--save-every 5 --keep-checkpoints 3"));
    CHECK(kept() == std::vector<std::string>{"step-000010", "step-000015", "step-000020"});  // 5 was not evaluated
    execute(train + "--resume auto --keep-checkpoints 1 --max-iters 25");
    CHECK_ALL(kept().size() <= 2, kept().back() == "step-000025");
    execute(train + words("--overwrite") + small("--save-every 6 --eval-every 0 --save-at 4,7 --keep-checkpoints 1"));
    CHECK(kept() == std::vector<std::string>{"step-000004", "step-000007", "step-000020"});
    execute(train + words("--overwrite") + small("--save-every 6 --eval-every 0 --keep-checkpoints all"));
    CHECK(kept() == std::vector<std::string>{"step-000006", "step-000012", "step-000018", "step-000020"});
    check_has(read_file(folder.out + "/config.toml"), "keep_checkpoints = 0\n");
}

// Resuming a run: changes are reported, and refused without --force; what a run or its user has written stays.
#include "tests/cli/program.h"

TEST_CASE("resume: other settings, and another tokenizer file, are refused, and taken with --force", "[cli]") {
    const CopiedRun run;
    check_fails(program(run.resume("--max-iters 22 --learning-rate 0.5")), 3, "--learning-rate was 0.001, is 0.5");
    const Result two = program(run.resume("--max-iters 22 --seed 7 --batch-size 8"));
    check_fails(two, 3, "--seed was 1337, is 7");
    check_has(two.err, "--batch-size was 4, is 8", "--force");
    for (const Arguments& change : {words("--val-fraction 0.2"), words("--dropout 0.1"), words("--sampler shuffle"),
                                    words("--tokenizer bpe"), words("--warmup-iters 9")})
        check_fails(program(run.resume("--max-iters 22", change)), 3, change[0] + " was ");
    CHECK(run.latest() == "step-000020");
    // and so are manual changes in the run's own config.toml
    const std::string config = read_file(run.out + "/config.toml");
    run.write("run/config.toml", std::regex_replace(config, std::regex("beta1 = 0.9"), "beta1 = 0.8"));
    check_fails(program(run.resume("--max-iters 22")), 3, "--beta1 was 0.9, is 0.8");
    run.write("run/config.toml", config);
    // the length of training and the intervals of output may change
    execute(run.resume("--max-iters 22 --threads 2 --eval-every 3 --log-every 1 --save-every 1"));
    check_has(execute(run.resume("--max-iters 23 --learning-rate 0.5 --force")).err,
              "warning: ", "--learning-rate was 0.001, is 0.5");
    CHECK(run.latest() == "step-000023");
    const TrainFolder folder;
    const std::string tokenizer = folder.path("t.json");
    execute("tokenize train --data", folder.text, "--vocab-size 280 --out", tokenizer);
    execute(folder.train("--tokenizer", tokenizer, kSmall));
    const Arguments again = folder.resume();
    execute("tokenize train --data", folder.text, "--vocab-size 290 --out", tokenizer);
    check_fails(call(again), 3, "another tokenizer");
    execute(again + "--force");
    fs::remove(tokenizer);  // the checkpoint has its own
    execute(again + "--max-iters 22");
}

TEST_CASE("resume: a folder that was moved, a checkpoint that is named, and --out of a config file", "[cli]") {
    const CopiedRun run;
    const std::string moved = run.path("moved");
    fs::rename(run.out, moved);
    const Arguments resume = words("train --data", run.text, "--resume");
    execute(resume, moved, "--max-iters 21");
    CHECK_ALL(fs::exists(moved + "/step-000021"), !fs::exists(run.out));
    // going back removes later checkpoints, which belong to another history
    check_has(execute(resume, moved + "/step-000020", "--max-iters 21").err, "going on from", "step 20");
    // into another folder
    const std::string other = run.path("other");
    execute(resume, moved, "--max-iters 22 --out", other);
    CHECK_ALL(fs::exists(other + "/step-000022"), !fs::exists(moved + "/step-000022"));
    check_fails(call(resume + moved + "--max-iters 23 --out" + other), 2, "already holds a run");
    check_fails(call(resume + run.path("none")), 3, "none: there is no such run or checkpoint");
    const CopiedRun again;
    const std::string config = again.write("c.toml", "out = \"" + again.out + "\"\n");
    execute("train --config", config, "--resume auto --data", again.text, "--max-iters 21 --no-overwrite");
    CHECK(again.latest() == "step-000021");
}

TEST_CASE("resume: a disk that is full ends the run, says which checkpoint is whole, and leaves it so", "[cli]") {
    const CopiedRun run;
    const std::string weights = weights_in(run.out);
    const std::string command = std::string("ulimit -f 24; exec ") + kProgram + " train --out '" + run.out +
                                "' --resume auto --data '" + run.text + "' --max-iters 30 2> '" + run.path("err") +
                                "'";  // in units of 512 bytes
    const int status = std::system(("sh -c \"" + command + "\"").c_str());
    const std::string said = read_file(run.path("err"));
    INFO(said);
    CHECK(WEXITSTATUS(status) == 1);
    check_has(said, "inkling: cannot write ", "File too large",
              "step-000020 is intact: continue from it with --resume auto");
    CHECK_ALL(run.latest() == "step-000020", weights_in(run.out) == weights);
    for (const std::string& name : names_in(run.out)) CHECK_FALSE(name.starts_with("."));
    execute(run.resume("--max-iters 30"));
    CHECK(run.latest() == "step-000030");
}

TEST_CASE("resume: a run that was killed before its first checkpoint begins anew", "[cli]") {
    const TrainFolder folder;
    folder.write("out/metrics.jsonl", "{\"step\":1,\"loss\":3}\n"), folder.write("out/config.toml", "n_layer = 7\n");
    folder.write("out/notes.txt", "mine");
    const Arguments train = folder.train(kSmall);
    check_fails(call(train), 2, "already holds a run");
    execute(train + "--resume auto");
    CHECK(weights_in(folder.out) == weights_in(small_run()));
    CHECK(read_file(folder.out + "/metrics.jsonl").find("\"loss\":3}") == std::string::npos);
    CHECK(read_file(folder.out + "/notes.txt") == "mine");
}

TEST_CASE("resume: a text that is large is encoded once", "[cli][slow]") {
    const TrainFolder folder;
    folder.write("text.txt", repeated(small_text(), 65 << 20));
    check_has(execute(folder.train(small("--eval-iters 1"))).err, "text to tokens: ");
    std::string ids;
    for (const std::string& name : names_in(folder.out))
        if (name.starts_with("tokens-")) ids = folder.out + "/" + name;
    REQUIRE_FALSE(ids.empty());
    const auto written = fs::last_write_time(ids);
    check_lacks(execute(folder.resume("--max-iters 22")).err, "text to tokens");
    CHECK(fs::last_write_time(ids) == written);
    std::fstream(ids, std::ios::in | std::ios::out | std::ios::binary).seekp(1000) << "damage";
    check_has(execute(folder.resume("--max-iters 24")).err, "text to tokens");
    CHECK(fs::last_write_time(ids) != written);
}

TEST_CASE("resume: more steps stretch the plan, in one line, and the learning rate rises again", "[cli]") {
    const CopiedRun run;  // 20 steps, which have decayed to --min-lr
    check_has(execute(run.resume("--max-iters 60")).err,
              "step 20: 60 steps, 20 before; the learning rate rises again to ");
    check_has(read_file(run.out + "/config.toml"), "max_iters = 60\n", "replan_step = [ 20 ]\n",
              "planned_iters = [ 20 ]\n");
    const auto rates = [&] {
        std::map<std::size_t, double> rate;
        for (const auto& line : lines_in(run.out + "/metrics.jsonl")) rate[line["step"]] = line["lr"];
        return rate;
    };
    const auto first = rates();
    CHECK_ALL(first.at(30) > 2 * first.at(20), first.at(60) < first.at(30));
    // killed after that, it resumes with the same plan: the rate does not rise again
    const std::string weights = weights_in(run.out);
    fs::remove_all(run.out + "/step-000060");
    execute(run.resume("--max-iters 60"));
    CHECK_ALL(rates() == first, weights_in(run.out) == weights);
}

TEST_CASE("train: an input that the new run would replace is refused, and stays", "[cli]") {
    const CopiedRun run;
    const std::string weights = weights_in(run.out), link = run.path("link");
    fs::create_directory_symlink(run.out, link);
    const std::string lora = run.path("lora");
    execute("train --init-from", run.out, "--data", run.text, "--out", lora, "--lora-rank 2 --max-iters 1 --threads 1");
    const std::string edited = "# tried on Monday\n" + read_file(run.out + "/config.toml");
    const Arguments start = words("train --overwrite --max-iters 1 --threads 1 --recipe nanogpt-cpu"),
                    data = words("--data", run.text);
    for (const Arguments& input :
         {data + "--teacher" + small_run() + "--teacher" + run.out, data + "--init-from" + run.out,
          data + "--init-from" + lora, data + "--init-adapter" + lora, data + "--tokenizer" + run.out,
          data + "--tokenizer" + (link + "/latest/tokenizer.json"),
          words("--text-field text --data", link + "/s*.jsonl"), data + "--config" + (run.out + "/config.toml")}) {
        INFO(input.back());
        run.write("run/config.toml", edited);
        for (const std::string& to : {run.out, link})
            check_fails(call(start + "--out" + to + input), 2, "the new run in " + to + " would replace it");
        CHECK_ALL(weights_in(run.out) == weights, read_file(run.out + "/config.toml") == edited);
        CHECK(fs::exists(run.out + "/metrics.jsonl"));
    }
    // from standard input
    const Result piped =
        program(start + "--out" + run.out + words("--data - --text-field text"), "", run.out + "/samples.jsonl");
    check_has(ended_with(2, piped).err, "would replace it");
    // what the run itself wrote is written again, and other files in its folder stay
    const std::string settings = run.write("run/mine.toml", "dropout = 0.1\n");
    execute(start + data + "--out" + run.out + "--config" + settings);
    CHECK(fs::exists(settings));
    execute("train --overwrite --config", run.out + "/config.toml", "--learning-rate 0.001");
    check_has(read_file(run.out + "/config.toml"), "dropout = 0.1\n", "learning_rate = 0.001\n");
}

TEST_CASE("resume: no file is written through a link in a run's folder", "[cli]") {
    for (const std::string name :
         {"metrics.jsonl", "samples.jsonl", "run.json", "config.toml", ".lock", "latest", "best"}) {
        INFO(name);
        const CopiedRun run;
        const std::string lines = fs::exists(run.out + "/" + name) && name.ends_with("l")
                                      ? read_file(run.out + "/" + name)
                                      : "",
                          user = run.write("user", lines + "mine\n");
        fs::remove(run.out + "/" + name);
        fs::create_symlink(user, run.out + "/" + name);
        const bool settings = name == "config.toml";
        if (settings) run.write("user", read_file(small_run() + "/config.toml"));
        const std::string before = read_file(user);
        execute(run.resume("--max-iters 22"));
        CHECK(read_file(user) == before);
        if (name != ".lock" && name != "latest" && name != "best")
            CHECK(fs::is_regular_file(fs::symlink_status(run.out + "/" + name)));
        CHECK(run.latest() == "step-000022");
    }
    const CopiedRun run;  // a link to nothing makes nothing
    for (const std::string name : {"metrics.jsonl", "samples.jsonl", "run.json", ".lock"}) {
        fs::remove(run.out + "/" + name);
        fs::create_symlink(run.path("none"), run.out + "/" + name);
    }
    execute(run.resume("--max-iters 22"));
    CHECK_FALSE(fs::exists(run.path("none")));
}

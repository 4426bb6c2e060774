// Resuming a run: changes are reported, and refused without --force; if the newest checkpoint is lost or damaged, the
// one before takes its place.
#include <map>
#include <set>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace inkling::testing;

namespace {

struct ResumedRun : CopiedRun {
    Result resume(const Arguments& more, const std::string& steps = "22") const {
        const bool other_text = std::find(more.begin(), more.end(), "--data") != more.end();
        const Arguments data = other_text ? Arguments{} : Arguments{"--data", text};
        return program(Arguments{"train", "--out", out, "--resume", "auto", "--max-iters", steps} + data + more);
    }
};

}  // namespace

TEST_CASE("resume: another text is refused in one line, and taken with --force", "[cli]") {
    const ResumedRun run;
    const std::string other = run.folder.write("other.txt", small_text() + "the end");
    check_fails(run.resume({"--data", other}), 3, "another text");
    CHECK(run.latest() == "step-000020");
    std::string changed = small_text();
    changed[700] = changed[700] == 'o' ? 'u' : 'o';
    run.folder.write("text.txt", changed);  // one letter, in the same file
    check_fails(run.resume({}), 3, "another text");
    run.folder.write("text.txt", small_text() + "NEW LETTERS");
    check_fails(run.resume({}), 3, "another text");
    run.folder.write("text.txt", changed);
    const Result forced = succeeded(run.resume({"--force"}));
    CHECK_THAT(forced.err, contains("warning: ", "another text"));
    CHECK(run.latest() == "step-000022");
}

TEST_CASE("resume: other settings are refused in one line that names them, and taken with --force", "[cli]") {
    const ResumedRun run;
    check_fails(run.resume({"--learning-rate", "0.5"}), 3, "--learning-rate was 0.001, is 0.5");
    const Result two = run.resume({"--seed", "7", "--batch-size", "8"});
    check_fails(two, 3, "--seed was 1337, is 7");
    CHECK_THAT(two.err, contains("--batch-size was 4, is 8", "--force"));
    for (const Arguments& change :
         {Arguments{"--val-fraction", "0.2"}, Arguments{"--dropout", "0.1"}, Arguments{"--sampler", "shuffle"},
          Arguments{"--tokenizer", "bpe"}, Arguments{"--warmup-iters", "9"}})
        check_fails(run.resume(change), 3, change[0] + " was ");
    CHECK(run.latest() == "step-000020");
    // and so are manual changes in the run's own config.toml
    const std::string config = read_file(run.out + "/config.toml");
    std::string edited = config;
    edited.replace(edited.find("beta1 = 0.9"), 11, "beta1 = 0.8");
    run.folder.write("run/config.toml", edited);
    check_fails(run.resume({}), 3, "--beta1 was 0.9, is 0.8");
    run.folder.write("run/config.toml", config);
    // the length of training and the intervals of output may change
    succeeded(run.resume({"--threads", "2", "--eval-every", "3", "--log-every", "1", "--save-every", "1"}));
    const Result forced = succeeded(run.resume({"--learning-rate", "0.5", "--force"}, "23"));
    CHECK_THAT(forced.err, contains("warning: ", "--learning-rate was 0.001, is 0.5"));
    CHECK(run.latest() == "step-000023");
}

TEST_CASE("resume: another tokenizer file is refused", "[cli]") {
    const NewRun run;
    const std::string tokenizer = run.folder.path("t.json");
    succeeded(program({"tokenize", "train", "--data", run.text, "--vocab-size", "280", "--out", tokenizer}));
    succeeded(program(Arguments{"train", "--data", run.text, "--out", run.out, "--tokenizer", tokenizer} + kSmall));
    const Arguments resume{"train", "--out", run.out, "--resume", "auto"};
    succeeded(program({"tokenize", "train", "--data", run.text, "--vocab-size", "290", "--out", tokenizer}));
    check_fails(call(resume), 3, "another tokenizer");
    succeeded(program(resume + Arguments{"--force"}));
    fs::remove(tokenizer);  // the checkpoint has its own
    succeeded(program(resume + Arguments{"--max-iters", "22"}));
}

TEST_CASE("resume: a folder that was moved, and a checkpoint that is named", "[cli]") {
    const ResumedRun run;
    const std::string moved = run.folder.path("moved");
    fs::rename(run.out, moved);
    succeeded(program({"train", "--resume", moved, "--data", run.text, "--max-iters", "21"}));
    CHECK(fs::exists(moved + "/step-000021"));
    CHECK_FALSE(fs::exists(run.out));
    // going back removes later checkpoints, which belong to another history
    const Result b =
        succeeded(program({"train", "--resume", moved + "/step-000020", "--data", run.text, "--max-iters", "21"}));
    CHECK_THAT(b.err, contains("going on from", "step 20"));
    // into another folder
    const std::string other = run.folder.path("other");
    succeeded(program({"train", "--resume", moved, "--out", other, "--data", run.text, "--max-iters", "22"}));
    CHECK(fs::exists(other + "/step-000022"));
    CHECK_FALSE(fs::exists(moved + "/step-000022"));
    check_fails(call({"train", "--resume", moved, "--out", other, "--data", run.text, "--max-iters", "23"}), 2,
                "already holds a run");
    check_fails(call({"train", "--resume", run.folder.path("none"), "--data", run.text}), 3,
                "none: there is no such run or checkpoint");
}

TEST_CASE("resume: --out may come from a config file", "[cli]") {
    const ResumedRun run;
    const std::string config = run.folder.write("c.toml", "out = \"" + run.out + "\"\n");
    succeeded(program(
        {"train", "--config", config, "--resume", "auto", "--data", run.text, "--max-iters", "21", "--no-overwrite"}));
    CHECK(run.latest() == "step-000021");
}

TEST_CASE("resume: --overwrite is not kept, and one that an older version kept does not replace a run", "[cli]") {
    const NewRun fresh;
    succeeded(program(Arguments{"train", "--data", fresh.text, "--out", fresh.out, "--overwrite"} + kSmall));
    CHECK(read_file(fresh.out + "/config.toml").find("overwrite") == std::string::npos);
    check_fails(call({"train", "--config", fresh.out + "/config.toml"}), 2, "already holds a run");
    const CopiedRun run, other;  // a config.toml that an older version wrote with overwrite does not replace a run
    const std::string config = run.folder.write("old.toml", "overwrite = true\n" + read_file(run.out + "/config.toml")),
                      weights = read_file(run.out + "/latest/model.safetensors");
    check_fails(call({"train", "--config", config, "--out", run.out, "--data", run.text, "--max-iters", "3"}), 2,
                "already holds a run");
    run.folder.write("run/config.toml", read_file(config));  // in the run itself: going on does not carry it along
    check_fails(call({"train", "--resume", run.out, "--out", other.out, "--data", run.text}), 2, "already holds a run");
    CHECK(read_file(run.out + "/latest/model.safetensors") == weights);
    CHECK(run.latest() == "step-000020");
}

TEST_CASE("resume: links that a killed save left behind are mended, also when nothing is left to do", "[cli]") {
    for (const char* steps : {"20", "22"}) {
        const ResumedRun run;
        fs::remove(run.out + "/latest");
        fs::create_directory_symlink("step-000010", run.out + "/latest");
        const std::string best = fs::read_symlink(run.out + "/best");
        fs::remove(run.out + "/best");
        fs::create_directory_symlink(best == "step-000010" ? "step-000020" : "step-000010", run.out + "/best");
        succeeded(run.resume({}, steps));
        CHECK(run.latest() == std::string("step-0000") + steps);
        const double loss =
            json::parse(program({"info", "--model", run.out + "/latest", "--json"}).out)["best_val_loss"];
        CHECK(json::parse(program({"info", "--model", run.out, "--json"}).out)["best_val_loss"] == loss);
        if (std::string(steps) == "20") CHECK(fs::read_symlink(run.out + "/best") == best);
    }
}

TEST_CASE("resume: a disk that is full ends the run, says which checkpoint is whole, and leaves it so", "[cli]") {
    const ResumedRun run;
    const std::string weights = read_file(run.out + "/step-000020/model.safetensors");
    const std::string command = std::string("ulimit -f 24; exec ") + kProgram + " train --out '" + run.out +
                                "' --resume auto --data '" + run.text + "' --max-iters 30 2> '" +
                                run.folder.path("err") + "'";  // in units of 512 bytes
    const int status = std::system(("sh -c \"" + command + "\"").c_str());
    const std::string said = read_file(run.folder.path("err"));
    INFO(said);
    CHECK(WEXITSTATUS(status) == 1);
    CHECK_THAT(said, contains("inkling: cannot write ", "File too large",
                              "step-000020 is intact: continue from it with --resume auto"));
    CHECK(run.latest() == "step-000020");
    CHECK(read_file(run.out + "/step-000020/model.safetensors") == weights);
    for (const auto& entry : fs::directory_iterator(run.out))
        CHECK_FALSE(entry.path().filename().string().starts_with("."));
    succeeded(run.resume({}, "30"));
    CHECK(run.latest() == "step-000030");
}

TEST_CASE("resume: a run that was killed before its first checkpoint begins anew", "[cli]") {
    const NewRun run;
    run.folder.write("out/metrics.jsonl", "{\"step\":1,\"loss\":3}\n");
    run.folder.write("out/config.toml", "n_layer = 7\n");
    run.folder.write("out/notes.txt", "mine");
    const Arguments train = run.train + kSmall;
    check_fails(call(train), 2, "already holds a run");
    succeeded(program(train + Arguments{"--resume", "auto"}));
    CHECK(read_file(run.out + "/latest/model.safetensors") == read_file(small_run() + "/latest/model.safetensors"));
    CHECK(read_file(run.out + "/metrics.jsonl").find("\"loss\":3}") == std::string::npos);
    CHECK(read_file(run.out + "/notes.txt") == "mine");
}

TEST_CASE("resume: a text that is large is encoded once", "[cli][slow]") {
    const ScratchFolder folder;
    std::string large;
    while (large.size() < (65 << 20)) large += small_text();
    const std::string text = folder.write("text.txt", large), out = folder.path("out");
    const Arguments train = Arguments{"train", "--data", text, "--out", out} + small({"--eval-iters", "1"});
    const Result first = succeeded(program(train));
    CHECK_THAT(first.err, contains("text to tokens: "));
    std::string ids;
    for (const auto& entry : fs::directory_iterator(out))
        if (entry.path().filename().string().starts_with("tokens-")) ids = entry.path();
    REQUIRE_FALSE(ids.empty());
    const auto written = fs::last_write_time(ids);
    const Arguments resume{"train", "--out", out, "--resume", "auto", "--max-iters"};
    const Result second = succeeded(program(resume + Arguments{"22"}));
    CHECK(fs::last_write_time(ids) == written);
    CHECK(second.err.find("text to tokens") == std::string::npos);
    std::fstream(ids, std::ios::in | std::ios::out | std::ios::binary).seekp(1000) << "damage";
    const Result third = succeeded(program(resume + Arguments{"24"}));
    CHECK(fs::last_write_time(ids) != written);
    CHECK_THAT(third.err, contains("text to tokens"));
}

TEST_CASE("resume: more steps or more time stretch the plan, in one line, and the learning rate rises again", "[cli]") {
    const ResumedRun run;  // 20 steps, which have decayed to --min-lr
    const Result r = succeeded(run.resume({}, "60"));
    CHECK_THAT(r.err, contains("step 20: 60 steps, 20 before; the learning rate rises again to "));
    const std::string config = read_file(run.out + "/config.toml");
    CHECK_THAT(config, contains("max_iters = 60\n", "replan_step = [ 20 ]\n", "planned_iters = [ 20 ]\n"));
    const auto rates = [&] {
        std::map<std::size_t, double> rate;
        std::istringstream lines(read_file(run.out + "/metrics.jsonl"));
        for (std::string line; std::getline(lines, line);) {
            const auto m = json::parse(line);
            rate[m["step"]] = m["lr"];
        }
        return rate;
    };
    const auto first = rates();
    CHECK(first.at(30) > 2 * first.at(20));
    CHECK(first.at(60) < first.at(30));
    // killed after that, it resumes with the same plan: the rate does not rise again
    const std::string weights = read_file(run.out + "/latest/model.safetensors");
    fs::remove_all(run.out + "/step-000060");
    succeeded(run.resume({}, "60"));
    CHECK(rates() == first);
    CHECK(read_file(run.out + "/latest/model.safetensors") == weights);
    if (kEmulated) SKIP_TEST("an emulator takes longer for a step than the plan is for");
    // and for more time: 25 ms of it have passed
    const NewRun fresh;
    const Arguments train{"train", "--data", fresh.text, "--out", fresh.out, "--max-time"};
    succeeded(program(train + Arguments{"0.2"}));
    const Result more = succeeded(program(train + Arguments{"0.6s", "--resume", "auto"}));
    CHECK(
        (more.err.find("rises again") != std::string::npos || more.err.find("has not improved") != std::string::npos));
}

TEST_CASE("train: --max-time is read in seconds, minutes and hours", "[cli]") {
    const NewRun run;
    for (const auto& [time, seconds] :
         {std::pair{"90", "90"}, {"90s", "90"}, {"5m", "300"}, {"1h30m", "5400"}, {"2d", "172800"}}) {
        succeeded(program(Arguments{"train", "--data", run.text, "--out", run.out, "--overwrite", "--max-time", time} +
                          small({"--max-iters", "1"})));
        CHECK_THAT(read_file(run.out + "/config.toml"), contains(std::string("max_time = ") + seconds + "\n"));
    }
    for (const char* time : {"", "m", "5x", "1h30", "-5", "5m 3s", "nan"})
        check_fails(call({"train", "--dry-run", "--max-time", time}), 2, "--max-time");
}

// SIGINT and SIGTERM: the run ends with 130 and 143, and with a checkpoint to resume from.
#include "tests/cli/program.h"

static long last_step(const TrainFolder& folder) { return json_of("info --model", folder.out + "/latest")["step"]; }

// Nothing is locked or unfinished.
static void check_no_leftovers(const TrainFolder& folder) {
    for (const std::string& name : names_in(folder.out)) CHECK_FALSE(name.starts_with("."));
}

const Arguments kEndlessRun = small("--max-iters 100000000 --eval-every 0 --log-every 1");

TEST_CASE("signals: a run that is interrupted saves its step, and can be resumed", "[cli]") {
    for (const auto& [number, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
        const TrainFolder folder;
        Process train(folder.train(kEndlessRun));
        wait_for_file(folder.out + "/metrics.jsonl");
        train.signal(number);
        const Result r = ended_with(code, train.wait());
        CHECK(r.out.empty());
        check_has(r.err, "--resume auto");
        const long step = last_step(folder);
        CHECK(step > 0);
        check_no_leftovers(folder);
        execute(folder.resume("--max-iters", std::to_string(step + 3)));
        CHECK(last_step(folder) == step + 3);
    }
}

TEST_CASE("signals: generate ends after whole characters, and a second signal ends at once", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.path("text");
    Process generate(words("generate --model", small_run(), "-p the -n 100000000"), text);
    wait_for_file(text);
    generate.signal(SIGINT);
    CHECK_ALL(generate.wait().code == 130, read_file(text).starts_with("the"), read_file(text).ends_with('\n'));
    const TrainFolder run;
    Process train(run.train(kEndlessRun));
    wait_for_file(run.out + "/metrics.jsonl");
    for (const int number : {SIGSTOP, SIGINT, SIGTERM, SIGCONT}) train.signal(number);  // both within one step
    const Result r = train.wait();
    INFO(r.err);
    CHECK((r.code == 130 || r.code == 143));  // of the one that came second
    CHECK_FALSE(fs::exists(run.out + "/latest"));
    check_lacks(r.err, "stopped at step");
}

TEST_CASE("signals: at any moment of a run that saves all the time, and when nobody reads it", "[cli]") {
    const TrainFolder folder;
    for (int i = 0; i < 12; ++i) {
        Process train(folder.train("--resume auto", small("--max-iters 100000000 --eval-every 1 --log-every 1")));
        wait_for_file(folder.out + "/metrics.jsonl");
        std::this_thread::sleep_for(std::chrono::milliseconds(40 + 7 * i));
        train.signal(SIGTERM);
        const Result r = ended_with(143, train.wait());  // also when it came before there was anything to save
        for (const std::string& line : lines_of(r.err))
            CHECK((line.find("warning") == std::string::npos || line.find("a spike") != std::string::npos));
        for (const std::string& name : names_in(folder.out)) CHECK_FALSE(name.starts_with(".unfinished"));
    }
    CHECK(last_step(folder) > 0);
    const TrainFolder unread;
    std::string command = std::string(kProgram) + " train --data " + unread.text + " --out " + unread.out;
    for (const std::string& flag : small("--log-every 1 --eval-every 1")) command += " " + flag;
    REQUIRE(std::system((command + " 2>&1 | head -n 1 >/dev/null").c_str()) == 0);
    REQUIRE(std::system((command + " --overwrite 2>/dev/full").c_str()) == 0);
    CHECK(last_step(unread) == 20);
}

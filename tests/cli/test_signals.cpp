// SIGINT and SIGTERM: the run ends with 130 and 143, and with a checkpoint to resume from.
#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

// Waits until the file has something in it.
bool appears(const std::string& path) {
    for (int i = 0; i < 30'000; ++i) {
        std::error_code none;
        if (fs::file_size(path, none) > 0 && !none) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
}

long step_of(const std::string& model) {
    const Result r = succeeded(program({"info", "--model", model, "--json"}));
    return json::parse(r.out)["step"];
}

}  // namespace

TEST_CASE("signals: a run that is interrupted saves its step, and can be resumed", "[cli]") {
    for (const auto& [number, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
        const NewRun run;
        Process train(run.train + small({"--max-iters", "100000000", "--eval-every", "0", "--log-every", "1"}));
        REQUIRE(appears(run.out + "/metrics.jsonl"));
        train.signal(number);
        const Result r = ended_with(code, train.wait());
        CHECK(r.out.empty());
        CHECK_THAT(r.err, contains("--resume auto"));
        const long step = step_of(run.out + "/latest");
        CHECK(step > 0);
        for (const std::string& name : names_in(run.out))
            CHECK_FALSE(name.starts_with("."));  // no lock, nothing unfinished
        succeeded(program({"train", "--out", run.out, "--resume", "auto", "--max-iters", std::to_string(step + 3)}));
        CHECK(step_of(run.out + "/latest") == step + 3);
    }
}

TEST_CASE("signals: generate ends with 130, after whole characters", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.path("text");
    Process generate({"generate", "--model", small_run(), "-p", "the", "-n", "100000000"}, text);
    REQUIRE(appears(text));
    generate.signal(SIGINT);
    CHECK(generate.wait().code == 130);
    CHECK(read_file(text).starts_with("the"));
    CHECK(read_file(text).ends_with('\n'));
}

TEST_CASE("signals: two runs cannot write to one folder", "[cli]") {
    const NewRun run;
    const Arguments flags = run.train + small({"--max-iters", "100000000", "--eval-every", "0"});
    Process first(flags);
    REQUIRE(appears(run.out + "/metrics.jsonl"));
    check_fails(program(flags + Arguments{"--overwrite"}), 1, "another run is writing there");
    first.signal(SIGINT);
    CHECK(first.wait().code == 130);
}

TEST_CASE("signals: a second one ends the program at once", "[cli]") {
    const NewRun run;
    Process train(run.train + small({"--eval-every", "0", "--log-every", "1", "--max-iters", "100000000"}));
    REQUIRE(appears(run.out + "/metrics.jsonl"));
    for (const int number : {SIGSTOP, SIGINT, SIGTERM, SIGCONT}) train.signal(number);  // both within one step
    const Result r = train.wait();
    INFO(r.err);
    CHECK((r.code == 130 || r.code == 143));  // of the one that came second
    CHECK_FALSE(fs::exists(run.out + "/latest"));
    CHECK(r.err.find("stopped at step") == std::string::npos);
}

TEST_CASE("signals: at any moment of a run that evaluates and saves all the time", "[cli]") {
    const NewRun run;
    for (int i = 0; i < 12; ++i) {
        Process train(Arguments{"train", "--data", run.text, "--out", run.out, "--resume", "auto"} +
                      small({"--max-iters", "100000000", "--eval-every", "1", "--log-every", "1"}));
        REQUIRE(appears(run.out + "/metrics.jsonl"));
        std::this_thread::sleep_for(std::chrono::milliseconds(40 + 7 * i));
        train.signal(SIGTERM);
        const Result r = ended_with(143, train.wait());  // also when it came before there was anything to save
        std::istringstream lines(r.err);
        for (std::string line; std::getline(lines, line);)
            CHECK((line.find("warning") == std::string::npos || line.find("a spike") != std::string::npos));
        for (const auto& entry : fs::directory_iterator(run.out))
            CHECK_FALSE(entry.path().filename().string().starts_with(".unfinished"));
    }
    CHECK(step_of(run.out + "/latest") > 0);
}

TEST_CASE("signals: a run goes on when nobody reads its progress any more", "[cli]") {
    const NewRun run;
    std::string command = std::string(kProgram) + " train --data " + run.text + " --out " + run.out;
    for (const std::string& flag : small({"--log-every", "1", "--eval-every", "1"})) command += " " + flag;
    REQUIRE(std::system((command + " 2>&1 | head -n 1 >/dev/null").c_str()) == 0);
    REQUIRE(std::system((command + " --overwrite 2>/dev/full").c_str()) == 0);
    CHECK(step_of(run.out + "/latest") == 20);
}

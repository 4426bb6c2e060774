// Faulty reads and writes: each read fails in turn; calls transfer one byte at a time; signals interrupt every other
// call.
#include "tests/cli/faults.h"

// Runs the program with variables for tests/preload/faulty_files.cpp.
static Result faulty(const Arguments& arguments, Variables variables) {
    variables.emplace_back("LD_PRELOAD", kFaultyFiles);
    return program_with(variables, arguments);
}

// Makes each reading call fail in turn. Calls `prepare` before each run, and `check_done` after each that ends with
// exit code 0. Returns the number of other runs.
template <class Prepare, class Done>
static int check_failing_reads(const Arguments& arguments, const Prepare& prepare, const Done& check_done) {
    int ended = 0;
    const auto check = [&](const Result& r, bool) {
        CHECK_FALSE(r.killed);
        if (r.code == 0) return check_done(r);
        ++ended;
        CHECK((r.code == 1 || r.code == 3));
        REQUIRE(r.err.size() > 2);
        CHECK(lines_of(r.err).back().starts_with("inkling: "));
    };
    each_fault(
        kFaultyFiles, "READ", arguments, [](long n) { return n + 1; }, prepare, check);
    return ended;
}

TEST_CASE("faulty files: any read may fail while a model is loaded and writes", "[cli]") {
    if (kSanitized) SKIP_TEST("sanitizers preload libraries of their own");
    const Arguments generate = words("generate --model", small_run(), "-p the -n 5 --threads 1 --seed 1");
    const std::string text = program(generate).out;
    CHECK(check_failing_reads(
              generate, [] {}, [&](const Result& r) { CHECK(r.out == text); }) > 20);
}

TEST_CASE("faulty files: any read may fail while a run goes on, which ends the same or stays whole", "[cli][slow]") {
    if (kSanitized) SKIP_TEST("sanitizers preload libraries of their own");
    const TrainFolder folder;
    const std::string begun = folder.path("begun");
    execute("train --data", folder.text, "--out", begun, small("--max-iters 10 --eval-every 5 --schedule constant"));
    // with a rate that does not depend on the number of steps, so that it does not matter which checkpoint resumes
    const auto prepare = [&] {
        fs::remove_all(folder.out);
        copy_run(begun, folder.out);
    };
    const Arguments go_on = folder.resume("--max-iters 15");
    prepare();
    execute(go_on);
    const std::string expected = weights_in(folder.out);
    const int ended =
        check_failing_reads(go_on, prepare, [&](const Result&) { CHECK(weights_in(folder.out) == expected); });
    CHECK(ended > 20);
    for (const auto& entry : fs::recursive_directory_iterator(folder.out))
        CHECK(entry.path().filename().string().find(".tmp.") == std::string::npos);
}

TEST_CASE("faulty files: files read and written a byte at a time, or always interrupted, are the same", "[cli]") {
    if (kSanitized) SKIP_TEST("sanitizers preload libraries of their own");
    const TrainFolder folder;
    const auto run = [&](const std::string& name, const Variables& variables) {
        const std::string out = folder.path(name);
        succeeded(
            faulty(words("train --data", folder.text, "--out", out, small("--max-iters 4 --eval-every 2")), variables));
        succeeded(faulty(words("train --out", out, "--resume auto --max-iters 6"), variables));
        const Result r = succeeded(faulty(words("generate --model", out, "-p the -n 9 --seed 1"), variables));
        return weights_in(out) + r.out;
    };
    const std::string expected = run("plain", {});
    CHECK(run("short", {{"INKLING_SHORT_FILES", "1"}}) == expected);
    CHECK(run("interrupted", {{"INKLING_EINTR", "1"}}) == expected);
    CHECK(run("both", {{"INKLING_SHORT_FILES", "1"}, {"INKLING_EINTR", "1"}}) == expected);
}

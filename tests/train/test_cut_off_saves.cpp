// Training runs that are killed, or whose disk fails, at every single call that changes a disk, and then resume: the
// folder ends like that of an undisturbed run, with the same files, links and bytes.
#include <sys/wait.h>

#include "formats/files/file_calls.h"
#include "tests/train/checkpoints.h"
#include "tests/train/run.h"

// Evaluates and saves after each step; the fourth is the best of the seven.
static train::TrainOptions options() {
    train::TrainOptions o = small_options();
    o.max_iters = 7, o.lr_decay_iters = 7, o.warmup_iters = 0, o.learning_rate = 0.2, o.min_lr = 0.2;
    o.eval_every = 1, o.save_every = 1;
    return o;
}

// Does what `inkling train --resume auto` does, without output.
static void train_on(const std::string& out) {
    train::RunFolder folder(out);
    const auto found = folder.checkpoints();
    if (found.empty()) {
        folder.clear();
        Run(options()).to_end(&folder);
        return;
    }
    Run run(options(), letters(600), models::load_model(found.front()).model);
    run.resume(found.front());
    folder.repair_links(found.front());
    run.to_end(&folder);
}

// The exit status of a child process that trains; it calls `before_call` before each call that changes a disk.
template <class F>
static int train_in_child(const std::string& out, F before_call) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        formats::before_file_call = before_call;
        try {
            train_on(out);
        } catch (const Error&) {
            _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("cut off saves: killed or failed at any call, a resumed run ends as an undisturbed one", "[train][slow]") {
    omp_set_num_threads(1);  // no threads that fork() would leave behind
    const ScratchFolder scratch;
    const std::string straight = scratch.path("straight");
    int all = 0;
    {
        formats::before_file_call = [&](std::string_view, const fs::path&) { return ++all, 0; };
        train_on(straight);
        formats::before_file_call = nullptr;
    }
    const auto expected = timeless_files(straight);
    REQUIRE(expected.at("latest") == "-> step-000007");
    REQUIRE(expected.at("best") == "-> step-000004");
    REQUIRE(all > 200);
    enum class Fault { kill, once, from_then_on };
    const bool every = std::getenv("INKLING_EVERY_CALL");  // ./check --everything sets it
    for (const Fault fault : {Fault::kill, Fault::once, Fault::from_then_on})
        for (int n = 1; n <= all; n += every ? 1 : fault == Fault::kill ? 5 : 7) {
            const ScratchFolder place;
            const std::string out = place.path("run");
            int calls = 0;
            const int code = train_in_child(out, [&](std::string_view, const fs::path&) {
                ++calls;
                if (calls == n && fault == Fault::kill) _exit(9);
                return calls == n || (calls > n && fault == Fault::from_then_on) ? EIO : 0;
            });
            INFO((fault == Fault::kill ? "killed" : "failed") << " at call " << n << ", exit code " << code);
            if (fault == Fault::kill) CHECK(code == 9);
            CHECK(train_in_child(out, [](std::string_view, const fs::path&) { return 0; }) == 0);
            CHECK(differences(expected, timeless_files(out)) == "");
        }
}

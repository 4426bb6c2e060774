// Whose the folder of a run is: its lock, and what it holds.
#include "train/run/run_folder.h"

#include <sys/file.h>

#include "formats/files/directory.h"
#include "formats/files/file_calls.h"
#include "tests/train/checkpoints.h"

TEST_CASE("run folder: one run at a time, a lock without a file is none, and what holds a run", "[train]") {
    const ScratchFolder scratch;
    {
        RunFolder folder(scratch.path());
        CHECK_THROWS_WITH(RunFolder(scratch.path()), contains("another run is writing there", scratch.path()));
        save_in(folder, 1);  // and the one that has it goes on
        CHECK_THROWS_AS(RunFolder(scratch.path()), Error);
    }
    CHECK_NOTHROW(RunFolder(scratch.path()));
    CHECK(names_in(scratch.path()) == std::vector<std::string>{"latest", "step-000001"});
    auto first = std::make_unique<RunFolder>(scratch.path());  // a lock whose file another run has removed is no lock
    const int waiting = open(scratch.path(".lock").c_str(), O_RDWR);  // as a run that comes while the first ends
    first.reset();
    REQUIRE(flock(waiting, LOCK_EX | LOCK_NB) == 0);  // it has the lock of a file that is gone
    const RunFolder second(scratch.path());           // which must not keep this one out
    CHECK_THROWS_WITH(RunFolder(scratch.path()), contains("another run is writing there"));
    close(waiting);
    fs::create_directory(scratch.path("out"));  // a lock that is a link is removed, not followed
    fs::create_symlink(scratch.path("elsewhere"), scratch.path("out/.lock"));
    const RunFolder folder(scratch.path("out"));
    CHECK_ALL(fs::is_regular_file(fs::symlink_status(folder.path() / ".lock")), !fs::exists(scratch.path("elsewhere")));
    const ScratchFolder other;
    other.write("notes.txt", "mine"), other.write("step-by-step/guide", "mine");
    other.write("tokenizer.json", "mine");
    RunFolder own(other.path());
    const auto foreign = names_in(own.path());
    CHECK_FALSE(train::holds_run(own.path()));
    save_in(own, 1, 2);
    CHECK(train::holds_run(own.path()));
    other.write("metrics.jsonl", "{}\n"), other.write("config.toml", "");
    own.clear();
    CHECK_ALL(!train::holds_run(own.path()), names_in(own.path()) == foreign);
    other.write("metrics.jsonl", "{}\n");
    CHECK(train::holds_run(own.path()));
    own.clear();
    own.clear();  // nothing there is fine too
    CHECK(names_in(own.path()) == foreign);
}

TEST_CASE("run folder: a file in its place, a folder that is gone and an unreadable lock are errors", "[train]") {
    const ScratchFolder scratch;
    const std::string file = scratch.write("file", "x");
    CHECK_THROWS_WITH(RunFolder(file), contains(file, "is a file"));
    CHECK_THROWS_AS(RunFolder(file + "/out"), Error);
    CHECK_THROWS_WITH(RunFolder(file + "/out"), contains(file));
    CHECK_THROWS_AS(RunFolder("/proc/inkling-out"), Error);
    CHECK(names_in(scratch.path()) == std::vector<std::string>{"file"});
    RunFolder folder(scratch.path("run"));  // one that is removed while a run writes there is told as such
    save_in(folder, 1);
    fs::remove_all(scratch.path("run"));
    CHECK_THROWS_WITH(save_in(folder, 2),
                      contains(scratch.path("run"), "the folder of the run is gone") && !contains("make room"));
    formats::before_file_call = [](std::string_view call, const fs::path&) { return call == "stat" ? EIO : 0; };
    CHECK_THROWS_WITH(RunFolder(scratch.path()), contains(scratch.path(), std::strerror(EIO)));
    formats::before_file_call = nullptr;
    CHECK_NOTHROW(RunFolder(scratch.path()));
}

TEST_CASE("run folder: one run at a time holds it, it may be a link, and have any name", "[train]") {
    const ScratchFolder scratch;
    std::atomic<int> inside = 0, most = 0, runs = 0;
    const auto run = [&] {
        for (int i = 0; i < 300; ++i) {
            try {
                const RunFolder folder(scratch.path("run"));
                most = std::max<int>(most, ++inside);
                ++runs;
                --inside;
            } catch (const Error&) {
            }
        }
    };
    std::thread other(run), third(run);
    run();
    other.join(), third.join();
    CHECK_ALL(most == 1, runs > 0);
    for (const std::string& name : {std::string("a b\nc"), std::string(255, 'n'), std::string("\xff")}) {
        RunFolder folder(scratch.path(name));
        save_in(folder, 1, 2, "x");
        CHECK(read_file(folder.path() / "latest" / "file") == "x");
    }
    fs::create_directory(scratch.path("real"));
    fs::create_directory_symlink("real", scratch.path("link"));
    RunFolder folder(scratch.path("link"));
    save_in(folder, 1, 2, "x");
    CHECK(read_file(scratch.path("real/latest/file")) == "x");
    CHECK_THROWS_AS(RunFolder(scratch.path("real")), Error);
}

TEST_CASE("run folder: knows what a new run would replace, through links too", "[train]") {
    const ScratchFolder scratch;
    const std::string run = scratch.path("run");
    for (const char* name : {"step-000004/model", "step-000004/deep/file", "metrics.jsonl", "config.toml",
                             "tokens-0.bin", "mine.txt", "notes/step-000001", "stepson/file"})
        scratch.write(std::string("run/") + name, "x");
    scratch.write("other/step-000004/model", "x");
    fs::create_directory_symlink("step-000004", run + "/latest");
    fs::create_directory_symlink("run", scratch.path("link"));
    fs::create_symlink("run/metrics.jsonl", scratch.path("metrics"));
    fs::create_symlink(scratch.path("other"), run + "/best");
    for (const char* name :
         {"run/step-000004", "run/step-000004/model", "run/step-000004/deep/file", "run/latest", "run/latest/model",
          "run/metrics.jsonl", "run/config.toml", "run/tokens-0.bin", "link/latest", "link/step-000004/model",
          "metrics", "run/best", "run/best/step-000004", "run/../run/step-000004"}) {
        INFO(name);
        CHECK(train::is_replaced(scratch.path(name), run));
        CHECK(train::is_replaced(scratch.path(name), scratch.path("link")));
    }
    for (const char* name : {"run", "run/mine.txt", "run/notes/step-000001", "run/stepson/file", "other/step-000004",
                             "none/step-000001", "run/none"})
        WITH_INFO(name, CHECK_FALSE(train::is_replaced(scratch.path(name), run)));
    CHECK_FALSE(train::is_replaced("standard input", run));
    CHECK_FALSE(train::is_replaced(run + "/step-000004", scratch.path("none")));
}
